/** The last hour in a sentence, as a line, as energy; bookings and sensors in words. */
import { expect, test } from 'vitest';
import { bookings } from '../../src/store/booking';
import { lines, summary, wattHours } from '../../src/store/hour';
import { contact, lastWord, sensorOf, sensorsOf, withoutCells } from '../../src/store/sensors';
import { amount, clockTime } from '../../src/store/words';
import { GROUND, table, UPPER } from './scene';

const hour = (values: number[], everyS = 60) => ({
  unit: '°C',
  period_s: 15,
  since_s: 0,
  at_s: 3600,
  samples: values.map((value, i) => ({ at_s: i * everyS, value })),
});

test('an hour is told from least to most, with its mean, its last value and where it goes', () => {
  expect(summary(hour([]))).toBe('Nothing was measured in the last hour.');
  expect(summary(hour([21, 21]))).toBe('21.0 °C for all of the last hour; 2 readings.');
  expect(summary(hour([20, 20, 20, 20, 20, 20, 22, 24, 26, 26, 26, 26]))).toBe(
    '20.0 °C to 26.0 °C in the last hour, 22.5 °C on average, now 26.0 °C; 12 readings.',
  );
  expect(summary(hour([20, 21, 22, 23, 24, 25]))).toContain('now 25.0 °C and rising');
  expect(summary(hour([25, 24, 23, 22, 21, 20]))).toContain('and falling');
});

test('a line begins and ends where its readings do, and is parted where none came', () => {
  const found = lines(
    { ...hour([]), samples: [0, 60, 1200, 1260, 3600].map((at_s) => ({ at_s, value: at_s })) },
    100,
    10,
  );
  expect(found).toEqual(['0.0,10.0 1.7,9.8', '33.3,6.7 35.0,6.5', '100.0,0.0']);
  expect(lines(hour([5, 5]), 100, 10)).toEqual(['0.0,5.0 1.7,5.0']);
});

test('an hour of power is energy; an hour of anything else is not', () => {
  expect(
    wattHours({ ...hour([]), unit: 'W', samples: [0, 1800, 3600].map((at_s) => ({ at_s, value: 60 })) }),
  ).toBe(60);
  expect(wattHours(hour([1, 2]))).toBeNull();
  expect(wattHours({ ...hour([]), unit: 'W' })).toBeNull();
});

test('a room is told what it is booked for now and next, and until when it is free', () => {
  const columns = ['rid', 'moment', 'title', 'start_s', 'end_s'];
  const of = (...rows: [string, string, string, number, number][]) =>
    bookings(table(columns, rows), 'lab', 1000);
  expect(bookings({ columns: [], rows: [], known: false }, 'lab', 1000)).toBeNull();
  expect(of(['store', 'now', 'Physics', 0, 2000])).toEqual({
    now: 'nothing',
    next: 'nothing',
    free: 'no booking follows',
  });
  const told = of(['lab', 'now', 'Databases', 0, 2000], ['lab', 'next', 'Numerics', 4000, 5000]);
  expect(told?.now).toBe(`Databases, until ${clockTime(2000, 1000)}`);
  expect(told?.next).toContain('Numerics');
  expect(told?.free).toBe('');
  expect(of(['lab', 'next', 'Numerics', 4000, 5000])?.free).toBe(`until ${clockTime(4000, 1000, true)}`);
});

test('a sensor reports, is silent after four intervals, or was never heard', () => {
  const word = lastWord({ sid: 's1', value: 3, unit: 'kg', at_s: 1000 });
  expect(word).toEqual({ value: 3, unit: 'kg', atS: 1000 });
  expect(contact(word, 15, 1060)).toBe('reporting');
  expect(contact(word, 15, 1064)).toBe('silent');
  expect(contact(lastWord(undefined), 15, 1000)).toBe('never heard');
  expect(withoutCells('cpu')).toContain('neither battery nor radio');
  expect(withoutCells('seat')).toBe('');
});

test('a figure is traced to the sensor of its machine or room', () => {
  const sensors = sensorsOf([GROUND, UPPER]);
  expect(sensors.get('s1')?.levelId).toBe('L0');
  expect(sensorOf(sensors.values(), 'seat', { mid: 'm1' })?.sid).toBe('s1');
  expect(sensorOf(sensors.values(), 'temperature', { rid: 'store' })?.sid).toBe('t2');
  expect(sensorOf(sensors.values(), 'energy', { mid: 'm1' })).toBeUndefined();
});

test('amounts have as many digits as tell something', () => {
  expect([
    amount(21.44, '°C'),
    amount(38.7, '%'),
    amount(1240.2, 'lx'),
    amount(0.5, 'Wh'),
    amount(3, ''),
  ]).toEqual(['21.4 °C', '39 %', '1,240 lx', '0.5 Wh', '3.0']);
});
