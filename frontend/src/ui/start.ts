/** What every page does first: find its element, show its icon. */
import icon from './icon.svg';

export function pageElement(): HTMLElement {
  const element = document.getElementById('app');
  if (element === null) throw new Error('The page has no #app element.');
  if (document.querySelector('link[rel=icon]') === null) {
    const link = document.createElement('link');
    link.rel = 'icon';
    link.href = icon;
    document.head.append(link);
  }
  return element;
}
