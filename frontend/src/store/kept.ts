/** The building as it was drawn last, kept by the browser for when there is no network. */
import { http, Problem } from '../api/http';

const KEPT = 'smartcis-plans';
const AT = 'kept-at';

/** Something of the building, and since when it is the newest the page has; null: it is fresh. */
export interface Known<T> {
  readonly value: T;
  readonly keptAtMs: number | null;
}

const open = async (): Promise<Cache | null> => ('caches' in globalThis ? caches.open(KEPT) : null);

/** Keep what the service said; a full disk keeps nothing, and the page goes on without. */
async function keep(key: string, value: unknown): Promise<void> {
  const headers = { 'Content-Type': 'application/json', [AT]: String(Date.now()) };
  try {
    await (await open())?.put(key, new Response(JSON.stringify(value), { headers }));
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
  }
}

/** Ask the service; where it cannot be reached, give what it said last. */
export async function getOrKept<T>(path: string): Promise<Known<T>> {
  const key = `/api/v1/${path}`;
  try {
    const value = await http.get<T>(path);
    void keep(key, value);
    return { value, keptAtMs: null };
  } catch (error) {
    if (!(error instanceof Problem) || (error.status !== 0 && error.status < 500)) throw error;
    const answer = await (await open())?.match(key);
    if (!answer) throw error;
    return { value: (await answer.json()) as T, keptAtMs: Number(answer.headers.get(AT)) };
  }
}
