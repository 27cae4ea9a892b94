import { describe, expect, it } from 'vitest';
import { powerText, radiusM, spenders, totals } from '../../src/layers/power';
import { table } from '../store/scene';

const POWER = table(
  ['view', 'sid', 'level_id', 'x_m', 'y_m', 'power_mw', 'sent_bytes_per_s', 'at_s'],
  [
    ['q_1', 'l1', 'L0', 1, 2, 0.5, 12, 1000],
    ['q_1', 'l2', 'L1', 3, 4, 0.25, 6, 1000],
    ['q_2', 'l1', 'L0', 1, 2, 0.01, 1, 1000],
  ],
);

describe('the power layer', () => {
  it('gives the motes of one query with their places', () => {
    expect(spenders(POWER, 'q_1')).toEqual([
      { sid: 'l1', levelId: 'L0', at: [1, 2], powerMw: 0.5 },
      { sid: 'l2', levelId: 'L1', at: [3, 4], powerMw: 0.25 },
    ]);
  });

  it('adds up what all motes spend per query', () => {
    expect([...totals(POWER)]).toEqual([
      ['q_1', 0.75],
      ['q_2', 0.01],
    ]);
  });

  it('draws four times the power twice as wide, beyond the least radius', () => {
    expect(radiusM(4, 4) - 0.4).toBeCloseTo(2 * (radiusM(1, 4) - 0.4));
    expect(radiusM(1, 0)).toBe(0);
  });

  it('spells power so that small ones are not nothing', () => {
    expect([150, 0.42, 0.012, 0.0012].map(powerText)).toEqual(['150 mW', '0.42 mW', '12 µW', '1.2 µW']);
  });
});
