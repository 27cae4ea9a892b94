/** How many pixels a metre has on the screen; symbols and labels are sized by it. */
export class Scale {
  pxPerM = $state(10);
}
