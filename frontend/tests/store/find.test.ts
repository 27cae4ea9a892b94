import { describe, expect, test } from 'vitest';
import { Finder } from '../../src/store/find';
import { BUILDING, GROUND, UPPER } from './scene';

const finder = new Finder(BUILDING, [GROUND, UPPER]);
const first = (text: string): string | undefined => finder.find(text)[0]?.key;

describe('a thing is found', () => {
  test.each([
    ['Room H1', 'room:lab'],
    ['h1', 'room:lab'],
    ['host-m3', 'machine:m3'],
    ['Door d2', 'door:d2'],
    ['LaTeX', 'free-machine:LaTeX'],
    ['latx', 'free-machine:LaTeX'],
    ['exit', 'exit'],
    ['Ausgang', 'exit'],
    ['Notausgnag', 'exit'],
    ['elevator', 'room:lift0'],
    ['Aufzug', 'room:lift0'],
    ['fahrstul', 'room:lift0'],
  ])('%s', (text, key) => {
    expect(first(text)).toBe(key);
  });
});

test('before anything is typed, what one may be led to is offered', () => {
  expect(finder.find('').map(({ key }) => key)).toEqual([
    'exit',
    'free-machine:LaTeX',
    'free-machine:R',
    'free-machine:QGIS',
  ]);
});

test('what is called like nothing is not found, and numbers are not guessed', () => {
  expect(finder.find('zzzz')).toEqual([]);
  expect(finder.find('H7')).toEqual([]);
});

test('a list keeps what is meant, all without a text', () => {
  expect(finder.keys(' ')).toBeNull();
  expect(finder.keys('host-m1')).toEqual(new Set(['machine:m1']));
});
