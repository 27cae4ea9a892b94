/** REST as this page uses it: JSON both ways, the CSRF token attached, problems as one class. */
import { t } from '../language';
import type { Error as ProblemFields, Position } from './schema';

export type { ProblemFields };

/** An answer that was not 2xx, or no answer at all (status 0). */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly fields: ProblemFields,
  ) {
    super(fields.message);
  }

  /** What went wrong, and what to try. */
  get said(): string {
    return [this.fields.message, this.fields.try].filter(Boolean).join('; ');
  }
}

const BASE = '/api/v1/';

function token(): string {
  const found = /(?:^|;\s*)csrftoken=([^;]+)/.exec(document.cookie);
  return found?.[1] ?? '';
}

/** Give the fields of a problem body, whatever the server sent. */
export function fieldsOf(body: unknown, fallback: string): ProblemFields {
  const given = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  const text = (key: string): string => (typeof given[key] === 'string' ? given[key] : '');
  const exists = Array.isArray(given.exists) ? given.exists.map(String) : [];
  return {
    code: text('code') || 'smartcis.http',
    message: text('message') || text('detail') || text('title') || fallback,
    position: (given.position as Position | null | undefined) ?? null,
    found: text('found'),
    exists,
    try: text('try'),
  };
}

type Headers = Readonly<Record<string, string>>;

async function call<T>(method: string, path: string, body?: unknown, extra: Headers = {}): Promise<T> {
  const headers: Record<string, string> = { Accept: 'application/json', ...extra };
  const file = body instanceof FormData; // the browser itself says how it is parted
  if (body !== undefined && !file) headers['Content-Type'] = 'application/json';
  if (method !== 'GET') headers['X-CSRFToken'] = token();
  let answer: Response;
  try {
    answer = await fetch(BASE + path, {
      method,
      headers,
      credentials: 'same-origin',
      ...(body === undefined ? {} : { body: file ? body : JSON.stringify(body) }),
    });
  } catch {
    throw new Problem(0, fieldsOf({ code: 'smartcis.http.unreachable' }, t('The server does not answer.')));
  }
  const text = await answer.text();
  let parsed: unknown;
  try {
    parsed = text === '' ? null : JSON.parse(text);
  } catch {
    parsed = null;
  }
  if (!answer.ok) {
    throw new Problem(
      answer.status,
      fieldsOf(parsed, t('The server answered {status}.', { status: answer.status })),
    );
  }
  return parsed as T;
}

const ASKED_AT_MOST = 3;

/** Ask the engine; again when it is so busy that the answer does not come in time. */
async function ask<T>(path: string, question: unknown, times = 1): Promise<T> {
  try {
    return await call<T>('POST', path, question);
  } catch (error) {
    const late = error instanceof Problem && error.fields.code === 'smartcis.why.no_answer';
    if (!late || times === ASKED_AT_MOST) throw error;
    return ask(path, question, times + 1);
  }
}

export const http = {
  get: <T>(path: string, headers?: Headers) => call<T>('GET', path, undefined, headers),
  post: <T>(path: string, body: unknown) => call<T>('POST', path, body),
  ask,
  upload: <T>(path: string, form: FormData) => call<T>('POST', path, form),
  patch: <T>(path: string, body: unknown, headers?: Headers) => call<T>('PATCH', path, body, headers),
  remove: (path: string) => call<null>('DELETE', path),
};
