/** "Who sees me": by the card's address or by typing its code, one press from hidden. */
import axe from 'axe-core';
import { flushSync, mount, unmount } from 'svelte';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import Visibility from '../../src/panels/Visibility.svelte';
import { openStores } from '../../src/store/stores';
import { Hand } from '../wire/hand';
import { one } from '../page';

let part: object | null = null;
let consent: string;
let sent: { method: string; code: string; body: unknown }[];

beforeEach(() => {
  consent = 'exact';
  sent = [];
  sessionStorage.clear();
  history.replaceState(null, '', '/?level=L0');
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
    if (url.endsWith('/policy/')) {
      const policy = { held_s: 60, log_keeps_s: 3600, renamed_at_hour: 4 };
      return Promise.resolve(new Response(JSON.stringify(policy)));
    }
    const headers = init.headers as Record<string, string>;
    const body: unknown = init.body === undefined ? null : JSON.parse(init.body as string);
    const code = headers['Visitor-Code'] ?? '';
    sent.push({ method: String(init.method), code, body });
    if (code !== 'secret') {
      const problem = {
        code: 'smartcis.visitors.unknown_code',
        message: 'this code belongs to no tag',
        try: 'look again',
      };
      return Promise.resolve(new Response(JSON.stringify(problem), { status: 404 }));
    }
    if (body !== null) consent = (body as { consent: string }).consent;
    const me = { consent, pseudonym: 'v-7', simulated: true };
    return Promise.resolve(new Response(JSON.stringify(me)));
  });
});

afterEach(() => {
  if (part) void unmount(part);
  vi.unstubAllGlobals();
});

function show(): void {
  document.body.innerHTML = '<main></main>';
  part = mount(Visibility, {
    target: one('main'),
    props: { ...openStores(new Hand()) },
  });
  flushSync();
}

const found = (id: string): HTMLElement | null => document.querySelector(`[data-testid="${id}"]`);
const pressed = (id: string): string | null | undefined => found(id)?.getAttribute('aria-pressed');

async function clean(): Promise<void> {
  const { violations } = await axe.run(document.body, { rules: { region: { enabled: false } } });
  expect(violations.map(({ id }) => id)).toEqual([]);
}

test('the card opens the panel, its code leaves the address, and one press hides', async () => {
  history.replaceState(null, '', '/?level=L0#visitor=secret');
  show();
  await vi.waitFor(() => {
    expect(pressed('consent-exact')).toBe('true');
  });
  expect(location.href).toMatch(/\/\?level=L0$/);
  expect((found('visibility') as HTMLDetailsElement).open).toBe(true);
  expect(found('consent-told')?.textContent).toContain('v-7');
  expect(found('consent-told')?.textContent).toContain('simulated');
  await vi.waitFor(() => {
    expect(found('retention')?.textContent).toContain('60 minutes');
  });
  await clean();
  found('consent-hidden')?.click();
  await vi.waitFor(() => {
    expect(pressed('consent-hidden')).toBe('true');
  });
  expect(sent.at(-1)).toEqual({ method: 'PATCH', code: 'secret', body: { consent: 'hidden' } });
  expect(found('consent-told')?.textContent).not.toContain('v-7');
  found('visitor-leave')?.click();
  flushSync();
  expect(found('visitor-code')).not.toBeNull();
  expect(sessionStorage.length).toBe(0);
});

test('a code that is none is said, and nothing is kept', async () => {
  show();
  expect(sent).toEqual([]);
  (found('visibility') as HTMLDetailsElement).open = true;
  const field = found('visitor-code') as HTMLInputElement;
  for (const [typed, right] of [
    ['wrong', false],
    [' secret ', true],
  ] as const) {
    field.value = typed;
    field.dispatchEvent(new Event('input', { bubbles: true }));
    found('visitor-enter')?.click();
    await vi.waitFor(() => {
      expect(
        right ? pressed('consent-exact') : document.querySelector('[role=alert]')?.textContent,
      ).toContain(right ? 'true' : 'belongs to no tag; look again');
    });
    if (!right) await clean();
    expect(sessionStorage.length).toBe(right ? 1 : 0);
  }
});
