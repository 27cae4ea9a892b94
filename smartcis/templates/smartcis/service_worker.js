// Opens the map and kiosks without network: their files as they are, their pages as they were.
// Another language is another script: the browser fetches it anew, and with it the map's page.
// What the building is like is asked of the network alone; the page itself keeps the plans.
'use strict';
const KEPT = 'smartcis-{{ version }}-{{ language }}';
const PAGES = 'smartcis-kiosks';
const SHELL = '{{ shell }}';
const FILES = {{ files|safe }};

self.addEventListener('install', (event) => {
  event.waitUntil(
    caches
      .open(KEPT)
      .then((kept) => kept.addAll([...FILES, new Request(SHELL, { credentials: 'omit' })]))
      .then(() => self.skipWaiting()),
  );
});

self.addEventListener('activate', (event) => {
  const old = (name) => name.startsWith('smartcis-') && ![KEPT, PAGES, 'smartcis-plans'].includes(name);
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter(old).map((name) => caches.delete(name))))
      .then(() => self.clients.claim()),
  );
});

// A kiosk's page carries its id: it is kept as it was shown, which is without anybody's account.
async function kiosk(request) {
  const pages = await caches.open(PAGES);
  const at = new URL(request.url).pathname;
  try {
    const answer = await fetch(request);
    if (answer.ok) await pages.put(at, answer.clone());
    return answer.status < 500 ? answer : ((await pages.match(at)) ?? answer);
  } catch {
    return (await pages.match(at)) ?? Response.error();
  }
}

async function map(request) {
  try {
    return await fetch(request);
  } catch {
    return (await caches.match(SHELL)) ?? Response.error();
  }
}

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== 'GET' || origin !== self.location.origin) return;
  if (request.mode === 'navigate' && pathname.startsWith('/kiosk/')) event.respondWith(kiosk(request));
  else if (request.mode === 'navigate' && pathname === '/') event.respondWith(map(request));
  else if (FILES.includes(pathname))
    event.respondWith(caches.match(request).then((kept) => kept ?? fetch(request)));
});
