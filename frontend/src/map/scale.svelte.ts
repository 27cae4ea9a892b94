/** How many pixels a metre has on the screen; symbols and labels are sized by it. */
import { UNTURNED, type Turn } from './turn';

export class Scale {
  pxPerM = $state(10);
  /** How the plan is turned; what is written on it stands upright all the same. */
  turn = $state.raw<Turn>(UNTURNED);
}

/** Below this a machine is smaller than its symbol, and rooms sum their machines up. */
export const FAR_PX_PER_M = 5.5;
