/** This browser's route at the service: made once, changed in place, remembered across reloads. */
import { http, Problem } from '../api/http';
import type { Route as Minted } from '../api/schema';
import type { Ask } from './outcome';

const KEY = 'smartcis.route';

export class RouteSession {
  private asked: string | null = null;
  private queue: Promise<string | null> = Promise.resolve(null);

  /** Is this another question than the last one put? */
  differs(ask: Ask | null): boolean {
    return this.asked !== (ask === null ? null : JSON.stringify(ask));
  }

  /** Put the question, or withdraw it; requests go out one after the other. */
  put(ask: Ask | null): Promise<string | null> {
    this.asked = ask === null ? null : JSON.stringify(ask);
    const next = (): Promise<string | null> => (ask === null ? this.withdraw() : this.state(ask));
    this.queue = this.queue.then(next, next);
    this.queue.catch(() => {
      this.asked = null;
    });
    return this.queue;
  }

  private async state(ask: Ask): Promise<string> {
    const body = { node: ask.node, goal: ask.goal, step_free: ask.stepFree };
    const known = sessionStorage.getItem(KEY);
    if (known !== null) {
      try {
        await http.patch(`routes/${encodeURIComponent(known)}/`, body);
        return known;
      } catch (error) {
        if (!(error instanceof Problem) || error.status !== 404) throw error;
      }
    }
    const minted = await http.post<Minted>('routes/', body);
    sessionStorage.setItem(KEY, minted.session);
    return minted.session;
  }

  private async withdraw(): Promise<null> {
    const known = sessionStorage.getItem(KEY);
    if (known === null) return null;
    sessionStorage.removeItem(KEY);
    try {
      await http.remove(`routes/${encodeURIComponent(known)}/`);
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 404) throw error;
    }
    return null;
  }
}
