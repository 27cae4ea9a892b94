/** How many pixels a metre has on the screen; symbols and labels are sized by it. */
export class Scale {
  pxPerM = $state(10);
}

/** Below this a machine is smaller than its symbol, and rooms sum their machines up. */
export const FAR_PX_PER_M = 5.5;
