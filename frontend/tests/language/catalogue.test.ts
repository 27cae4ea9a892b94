/** What is wrong with a file of translations is found. */
import { expect, test } from 'vitest';
import { shortcomings } from './catalogue';

const HEAD = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n\n';

test.each([
  ['msgid "Door"\nmsgstr "Tür"\n', []],
  ['msgid "Door"\nmsgstr ""\n', ['Door: not translated']],
  ['#, fuzzy\nmsgid "Door"\nmsgstr "Tür"\n', ['Door: fuzzy']],
  ['msgid "Door {id}"\nmsgstr "Tür {nr}"\n', ['Door {id}: other placeholders']],
  [
    'msgid "one"\nmsgid_plural "{count} of {all}"\nmsgstr[0] "eins"\nmsgstr[1] "{count} von {all}"\n',
    ['one: other placeholders'],
  ],
  ['msgid "one"\nmsgid_plural "{count}"\nmsgstr[0] "eins"\nmsgstr[1] ""\n', ['one: not translated']],
  [
    'msgid "one"\nmsgid_plural "{count}"\nmsgstr[0] "eins"\nmsgstr[1] "viele"\n',
    ['one: does not say how many'],
  ],
  ['msgid "one"\nmsgid_plural "{count}"\nmsgstr[0] "eins"\nmsgstr[1] "{count}"\n', []],
])('%s', (entry, found) => {
  expect(shortcomings(HEAD + entry)).toEqual(found);
});
