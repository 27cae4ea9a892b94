/** The button that asks why: by keyboard, with an answer or a problem, and nothing for axe to say. */
import axe from 'axe-core';
import { flushSync, mount, unmount } from 'svelte';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import Why from '../../src/panels/Why.svelte';
import { openStores } from '../../src/store/stores';
import { Hand } from '../wire/hand';
import { one } from '../page';

let part: object;
let sent: unknown[];
let answer: () => Response;

beforeEach(() => {
  sent = [];
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
    sent.push([url, JSON.parse(init.body as string)]);
    return Promise.resolve(answer());
  });
  document.body.innerHTML = '<main></main>';
  part = mount(Why, {
    target: one('main'),
    props: { ...openStores(new Hand()), view: 'free_machine', row: ['m1', 'lab', 101] },
  });
  flushSync();
});

afterEach(() => {
  void unmount(part);
  vi.unstubAllGlobals();
});

const button = (): HTMLElement => one('[data-testid="why"]');
const said = (): string => document.querySelector('[data-testid="why-reasons"]')?.textContent ?? '';

async function press(): Promise<void> {
  button().focus();
  button().click();
  flushSync();
  await vi.waitFor(() => {
    expect(button().getAttribute('aria-disabled')).toBe('false');
  });
  flushSync();
}

test('asks for the row, tells, and folds away again', async () => {
  const door = { relation: 'door', row: { door_id: 'd1', state: 'open' }, necessary: true, hidden: false };
  answer = () => new Response(JSON.stringify({ sets: [[door]], complete: true, at_s: 1 }));
  await press();
  expect(sent).toEqual([['/api/v1/queries/why/', { view: 'free_machine', row: ['m1', 'lab', 101] }]]);
  expect(said()).toContain('Door d1 is open');
  expect(said()).toContain('without this door there is no such way');
  expect(button().getAttribute('aria-expanded')).toBe('true');
  expect(document.activeElement).toBe(button());
  const rules = { runOnly: ['wcag2a', 'wcag2aa'], rules: { 'color-contrast': { enabled: false } } };
  expect((await axe.run(one('main'), rules)).violations).toEqual([]);
  await press();
  expect(said().trim()).toBe('');
  expect(sent).toHaveLength(1);
});

test('says what went wrong, and may be asked again', async () => {
  const fields = { code: 'smartcis.why.not_there', message: 'no answer', try: 'again in a few seconds' };
  answer = () => new Response(JSON.stringify(fields), { status: 404 });
  await press();
  expect(said()).toContain('no answer; again in a few seconds');
  expect(button().getAttribute('aria-expanded')).toBe('false');
  await press();
  expect(sent).toHaveLength(2);
});
