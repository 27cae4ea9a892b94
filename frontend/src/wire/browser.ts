/** The browser as the client's surroundings. */
import type { SocketLike, Surroundings } from './client';

export const browser: Surroundings = {
  open(): SocketLike {
    const scheme = location.protocol === 'https:' ? 'wss:' : 'ws:';
    // A socket does not say which page opened it, and a kiosk's follows as a visitor.
    const whose = location.pathname.startsWith('/kiosk/') ? '?kiosk' : '';
    return new WebSocket(`${scheme}//${location.host}/ws/live/${whose}`);
  },
  now: () => Date.now(),
  random: () => Math.random(),
  later(ms, run) {
    const timer = setTimeout(run, ms);
    return () => {
      clearTimeout(timer);
    };
  },
};
