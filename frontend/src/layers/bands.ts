/** Overlays that fill rooms: what a row says of a room, and which band that is, in words. */
import './bands.css';
import { t } from '../language';
import { number, type Fields } from '../store/table';
import { CELSIUS } from '../store/units.svelte';
import { amount } from '../store/words';

/** How a band is filled: five steps from too little to too much. */
export type Tone = 'lowest' | 'low' | 'middle' | 'high' | 'highest';

export interface Band {
  readonly tone: Tone;
  readonly text: () => string;
}

export interface Banded {
  /** Of the figures, where all have one. */
  readonly unit?: string;
  /** From the least to the most. */
  readonly bands: readonly Band[];
  /** Which band a row of the view is in; none where it says nothing. */
  readonly tone: (row: Fields) => Tone | undefined;
  /** The figure, as short as it can stand in a room. */
  readonly figure: (row: Fields) => string;
  /** What the figures are, and of whom. */
  readonly note: () => string;
}

interface Steps {
  readonly column: string;
  readonly unit: string;
  readonly note: () => string;
  readonly bands: readonly (Band & { readonly below: number })[];
}

/** Bands of one figure: each ends below a value. */
export function steps({ column, unit, note, bands }: Steps): Banded {
  return {
    unit,
    bands,
    note,
    tone: (row) => {
      const value = number(row[column]);
      return value === null ? undefined : bands.find(({ below }) => value < below)?.tone;
    },
    figure: (row) => amount(number(row[column]) ?? 0, unit),
  };
}

/** Where a room is no longer cold, cool, pleasant, °C. */
const [COLD, COOL, WARM] = [18, 20, 23];
/** From where on a room is too warm: the limit of the standing view `triggered_sensor`. */
export const TOO_WARM_CELSIUS = 26;

const degrees = (celsius: number): string => amount(celsius, CELSIUS, 0);

export const TEMPERATURE = steps({
  column: 'celsius',
  unit: CELSIUS,
  note: () => t('The last reading of any thermometer in the room that has not fallen silent.'),
  bands: [
    { tone: 'lowest', below: COLD, text: () => t('cold, below {limit}', { limit: degrees(COLD) }) },
    { tone: 'low', below: COOL, text: () => t('cool, below {limit}', { limit: degrees(COOL) }) },
    { tone: 'middle', below: WARM, text: () => t('pleasant, below {limit}', { limit: degrees(WARM) }) },
    {
      tone: 'high',
      below: TOO_WARM_CELSIUS,
      text: () => t('warm, below {limit}', { limit: degrees(TOO_WARM_CELSIUS) }),
    },
    {
      tone: 'highest',
      below: Infinity,
      text: () => t('too warm, {limit} and above', { limit: degrees(TOO_WARM_CELSIUS) }),
    },
  ],
});

export const LIGHT = steps({
  column: 'lux',
  unit: 'lx',
  note: () => t('The last reading of any light sensor in the room that has not fallen silent.'),
  bands: [
    { tone: 'lowest', below: 50, text: () => t('dark, below 50 lx: nobody is sent there') },
    { tone: 'low', below: 300, text: () => t('dim, 50 to 300 lx') },
    { tone: 'middle', below: 1000, text: () => t('light enough to read, 300 to 1,000 lx') },
    { tone: 'high', below: Infinity, text: () => t('bright, 1,000 lx and above') },
  ],
});

export const OCCUPANCY = steps({
  column: 'taken_pct',
  unit: '%',
  note: () => t('Machines that are in use, of those in the room that say how they are.'),
  bands: [
    { tone: 'lowest', below: 0.1, text: () => t('empty') },
    { tone: 'low', below: 50, text: () => t('less than half taken') },
    { tone: 'high', below: 100, text: () => t('half and more taken') },
    { tone: 'highest', below: Infinity, text: () => t('all taken') },
  ],
});

export const ENERGY = steps({
  column: 'watts',
  unit: 'W',
  note: () => t('What the measured machines of the room draw together.'),
  bands: [
    { tone: 'low', below: 300, text: () => t('below 300 W') },
    { tone: 'middle', below: 600, text: () => t('300 to 600 W') },
    { tone: 'high', below: 900, text: () => t('600 to 900 W') },
    { tone: 'highest', below: Infinity, text: () => t('900 W and above') },
  ],
});

/** CO₂ from which a room wants airing, and from which nobody thinks well, ppm. */
const [STUFFY_PPM, STALE_PPM] = [1000, 1400];
const [DRY_PCT, DAMP_PCT] = [30, 60];

export const AIR: Banded = {
  bands: [
    { tone: 'lowest', text: () => t('dry, humidity below {share} %', { share: DRY_PCT }) },
    { tone: 'middle', text: () => t('good') },
    { tone: 'low', text: () => t('damp, humidity {share} % and above', { share: DAMP_PCT }) },
    { tone: 'high', text: () => t('stuffy, CO₂ 1,000 ppm and above') },
    { tone: 'highest', text: () => t('stale, CO₂ 1,400 ppm and above') },
  ],
  note: () =>
    t(
      'Humidity, and CO₂ where an operator put a sensor of it. Sensors of humidity measure while this is open.',
    ),
  tone: (row) => {
    const [damp, ppm] = [number(row.humidity_pct), number(row.co2_ppm)];
    if (ppm !== null && ppm >= STUFFY_PPM) return ppm >= STALE_PPM ? 'highest' : 'high';
    if (damp !== null && damp < DRY_PCT) return 'lowest';
    if (damp !== null && damp >= DAMP_PCT) return 'low';
    return damp === null && ppm === null ? undefined : 'middle';
  },
  figure: (row) =>
    [
      [number(row.humidity_pct), '%'],
      [number(row.co2_ppm), 'ppm'],
    ]
      .flatMap(([value, unit]) => (typeof value === 'number' ? [amount(value, String(unit))] : []))
      .join(', '),
};
