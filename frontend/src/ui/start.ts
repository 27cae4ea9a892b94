/** What every page does first: find its element, and what the server drew there. */
import { takeServed } from './served';

export function pageElement(): HTMLElement {
  const element = document.getElementById('app');
  if (element === null) throw new Error('The page has no #app element.');
  takeServed(element);
  // Where the page may keep files at all, which browsers allow over HTTPS and on this machine.
  if ('serviceWorker' in navigator) void navigator.serviceWorker.register('/sw.js').catch(() => undefined);
  return element;
}
