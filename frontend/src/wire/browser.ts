/** The browser as the client's surroundings. */
import type { SocketLike, Surroundings } from './client';

export const browser: Surroundings = {
  open(): SocketLike {
    const scheme = location.protocol === 'https:' ? 'wss:' : 'ws:';
    return new WebSocket(`${scheme}//${location.host}/ws/live/`);
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
