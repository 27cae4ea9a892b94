/** Where the page is: its address, which can be shared, bookmarked and gone back to. */
import { readAddress, writeAddress, type Address } from './address';

const REMEMBER_STEP_FREE = 'smartcis.step_free';

export class Navigation {
  address = $state.raw<Address>(readAddress(''));

  /** @param fixedKiosk where a kiosk page stands; it keeps nothing of its visitors. */
  constructor(readonly fixedKiosk: string | null = null) {}

  /** Read the address, and follow the back button; returns the function that ends it. */
  start(): () => void {
    this.address = readAddress(location.search);
    if (!location.search.includes('step_free') && this.fixedKiosk === null) {
      const stepFree = localStorage.getItem(REMEMBER_STEP_FREE) === '1';
      this.address = { ...this.address, stepFree };
    }
    const back = (): void => {
      this.address = readAddress(location.search);
    };
    window.addEventListener('popstate', back);
    return () => {
      window.removeEventListener('popstate', back);
    };
  }

  /** Change the address; `push` makes a step the back button can undo. */
  go(change: Partial<Address>, push = true): void {
    const next = { ...this.address, ...change };
    const text = location.pathname + writeAddress(next);
    if (text === location.pathname + writeAddress(this.address)) return;
    this.address = next;
    if (change.stepFree !== undefined && this.fixedKiosk === null) {
      localStorage.setItem(REMEMBER_STEP_FREE, change.stepFree ? '1' : '0');
    }
    if (push) history.pushState(null, '', text);
    else history.replaceState(null, '', text);
  }
}
