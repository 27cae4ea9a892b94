/** What the server drew into the page: the page keeps these pieces when it draws itself. */

/** The account in the header: who is signed in, and the way in or out. */
let account: Element | null = null;
/** The floor, drawn before any script ran; it stays until the map is there. */
let picture: Element | null = null;

/** Take the pieces out of the page, which is then empty. */
export function takeServed(page: HTMLElement): void {
  account = page.querySelector('#account');
  picture = page.querySelector('#first-picture');
  page.replaceChildren();
  // The page's address changes while it is open; signing in comes back to the newest.
  account?.querySelector<HTMLAnchorElement>('#sign-in')?.addEventListener('click', (event) => {
    const way = event.currentTarget as HTMLAnchorElement;
    way.search = `?next=${encodeURIComponent(location.pathname + location.search)}`;
  });
}

/** Put the account where a header wants it. */
export function placeAccount(host: HTMLElement): void {
  if (account) host.append(account);
}

/** Put the picture where the map will be. */
export function placePicture(host: HTMLElement): void {
  if (picture) host.append(picture);
}
