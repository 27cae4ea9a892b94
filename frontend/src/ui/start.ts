/** What every page does first: find its element, and what the server drew there. */
import { takeServed } from './served';

export function pageElement(): HTMLElement {
  const element = document.getElementById('app');
  if (element === null) throw new Error('The page has no #app element.');
  takeServed(element);
  return element;
}
