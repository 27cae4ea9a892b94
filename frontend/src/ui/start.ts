/** What every page does first: find its element, what the server drew there, and the words of its language. */
import { loadLanguage } from '../language';
import { takeServed } from './served';

export async function pageElement(): Promise<HTMLElement> {
  const element = document.getElementById('app');
  if (element === null) throw new Error('The page has no #app element.');
  await loadLanguage();
  takeServed(element);
  // Where the page may keep files at all, which browsers allow over HTTPS and on this machine.
  if ('serviceWorker' in navigator) void navigator.serviceWorker.register('/sw.js').catch(() => undefined);
  return element;
}
