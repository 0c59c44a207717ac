// Keeps the page and its parts, so that it opens at once and without a network; games, pictures and pages of the server are
// never kept, for an old table would be a lie.

const NAME = 'chilkoot-shell';
const PARTS = /^\/[a-z]+\.(js|css|svg|webmanifest)$/;

addEventListener('install', (event) => {
  event.waitUntil((async () => {
    const cache = await caches.open(NAME), page = await (await fetch('/')).text();
    // A set, for addAll fails where a part is named twice.
    await cache.addAll(new Set(['/', ...[...page.matchAll(/(?:href|src)="(\/\w+\.\w+)"/g)].map(([, path]) => path)]));
    await skipWaiting();
  })());
});

addEventListener('activate', (event) => event.waitUntil(clients.claim()));

addEventListener('fetch', (event) => {
  const { request } = event, url = new URL(request.url);
  if (request.method !== 'GET' || url.origin !== location.origin) return;
  const isPage = request.mode === 'navigate' && /^\/($|games\/|replay\/|races\/|daily$)/.test(url.pathname);
  const key = isPage ? '/' : PARTS.test(url.pathname) ? url.pathname : null;
  if (!key) return;
  // The server first, so that page and server are of one version; what is kept is for when it does not answer.
  event.respondWith((async () => {
    try {
      const answer = await fetch(request);
      if (answer.ok) {
        const copy = answer.clone();
        event.waitUntil(caches.open(NAME).then((cache) => cache.put(key, copy)));
      }
      return answer;
    } catch (why) {
      const kept = await caches.match(key);
      if (kept) return kept;
      throw why;
    }
  })());
});
