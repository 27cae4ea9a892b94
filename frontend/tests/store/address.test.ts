import { expect, test } from 'vitest';
import { readAddress, writeAddress } from '../../src/store/address';

test('an address survives being written and read', () => {
  const address = {
    level: 'L1',
    kiosk: 'k 1',
    from: null,
    goal: 'free-machine:C++ & R',
    stepFree: true,
    select: 'machine:m1',
    layer: 'q-1',
    overlay: 'air',
    list: true,
  };
  expect(readAddress(writeAddress(address))).toEqual(address);
});

test('an empty address is no query string', () => {
  expect(writeAddress(readAddress(''))).toBe('');
  expect(readAddress('?step_free=0').stepFree).toBe(false);
});
