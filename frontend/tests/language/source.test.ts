/** The check itself: each way to leave a text out is found, and what is right is left alone. */
import { describe, expect, test } from 'vitest';
import { read } from './source';

const faults = (path: string, source: string): string[] =>
  read(path, source).faults.map(({ line, what, text }) => `${line}: ${what}: ${text}`);

describe('is found', () => {
  test.each([
    ['a text', '<p>Free</p>', '1: text: Free'],
    ['a text beside a value', '<p>{count} free</p>', '1: text: free'],
    ['a name read out', '<button aria-label="Close"></button>', '1: attribute: aria-label=Close'],
    ['a name with a value', '<b title="Door {id}"></b>', '1: attribute: title=Door'],
    ['a name as an expression', "<b title={open ? 'open' : ''}></b>", '1: shown without t(): open'],
    ['one word of an expression', "<p>{free ? 'free' : t('in use')}</p>", '1: shown without t(): free'],
    ['a template', '<p>{`${n} free`}</p>', '1: shown without t(): {} free'],
    ['a property of a component', '<Card heading="No way" />', '1: attribute: heading=No way'],
    ['a handler', "<b onclick={() => say('Done.')}></b>", '1: looks like prose: Done.'],
    ['a declaration', "{@const name = 'a room'}", '1: looks like prose: a room'],
    [
      'a text in the script',
      "<script>\n  const none = 'No data';\n</script>",
      '2: looks like prose: No data',
    ],
    ['a text that is no literal', '<p>{t(name)}</p>', '1: t() of something else than a literal: t(name)'],
  ])('%s', (_, source, fault) => {
    expect(faults('a.svelte', source)).toEqual([fault]);
  });

  test.each([
    ['a sentence', "export const f = () => 'Nothing is free';", '1: looks like prose: Nothing is free'],
    ['a glued sentence', 'export const f = (n: number) => `${n} rooms`;', '1: looks like prose: {} rooms'],
    ['a name that a script gives', "svg.setAttribute('aria-label', 'map');", '1: shown without t(): map'],
    ['a value of a table', "const NAMES = { a: 'Seat' } as const;", '1: looks like prose: Seat'],
    [
      'a template for n()',
      'n(`one`, `two`, 2);',
      '1: n() of something else than a literal: n(`one`, `two`, 2)',
    ],
    [
      'a text of the loading module',
      "const LATE = 1;\nexport const NAME = t('Seat');",
      '2: t() before the language is known: Seat',
    ],
    [
      'one of a static field',
      "class A {\n  static x = t('Seat');\n}",
      '2: t() before the language is known: Seat',
    ],
    ['a problem that people read', "throw new Problem(0, 'No answer.');", '1: looks like prose: No answer.'],
  ])('%s', (_, source, fault) => {
    expect(faults('a.ts', source)).toEqual([fault]);
  });
});

test('what nobody reads is left alone', () => {
  const code = `
    import { x } from 'a b';
    type Way = 'Up there' | 'Down there';
    throw new RangeError('No element there.');
    svg.setAttribute('class', 'plan');
    if (event.key === 'Escape' || name === 'in use') el.querySelector('a b');
    const sql = "SELECT rid FROM room WHERE rid = 'x'";
    switch (x) { case 'in use': break; }
    const key = { 'in use': 1 }['in use'];`;
  expect(faults('a.ts', code)).toEqual([]);
  expect(
    faults('a.svelte', '<p class="big bold" data-testid="the x">{t("Free")} · 5 kg</p><Icon name="map" />'),
  ).toEqual([]);
});

test('gives the texts, also those within others', () => {
  const { messages, faults: none } = read(
    'a.svelte',
    `<p>{t('In {room}', { room: n('one room', '{count} rooms', 2) })}</p>`,
  );
  expect(messages).toEqual([{ one: 'In {room}' }, { one: 'one room', many: '{count} rooms' }]);
  expect(none).toEqual([]);
});
