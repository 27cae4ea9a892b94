/** Sensors as things: what they are called, what they watch, which of them a figure comes from. */
import type { Plan, PlanSensor } from '../api/schema';
import { t, word } from '../language';
import { number, type Fields } from './table';
import type { Reading } from './world';

export type Sensor = PlanSensor & { readonly levelId: string };

/** All sensors of the plans by id. */
export function sensorsOf(plans: readonly Plan[]): Map<string, Sensor> {
  return new Map(
    plans.flatMap((plan) =>
      plan.sensors.map((sensor) => [sensor.sid, { ...sensor, levelId: plan.level_id }] as const),
    ),
  );
}

/** Without a word for so many of its intervals, a sensor is silent. */
const SILENT_AFTER = 4;

/** What people call a kind of sensor; one that an operator added goes by its own name. */
export function kindName(kind: string): string {
  switch (kind) {
    case 'seat':
      return t('Seat');
    case 'light':
      return t('Light');
    case 'temperature':
      return t('Temperature');
    case 'cpu':
      return t('Processor');
    case 'rfid':
      return t('Receiver of tags');
    case 'energy':
      return t('Energy meter');
    case 'door':
      return t('Door contact');
    case 'humidity':
      return t('Humidity');
    default:
      return word(kind);
  }
}

/** Why a sensor has no battery, as those on the mains and programs; empty where it has one. */
export function withoutCells(kind: string): string {
  switch (kind) {
    case 'cpu':
      return t('a program on the machine: neither battery nor radio');
    case 'energy':
    case 'rfid':
      return t('on the mains');
    default:
      return '';
  }
}

export interface Word extends Reading {
  readonly unit: string;
}

/** The last word of a sensor: a row of `sensor_reading`. */
export function lastWord(row: Fields | undefined): Word | null {
  const value = number(row?.value);
  const atS = number(row?.at_s);
  return value === null || atS === null ? null : { value, atS, unit: String(row?.unit ?? '') };
}

/** "silent", "reporting", or "never heard" while nothing of it is known. */
export function contact(word: Reading | null, periodS: number, nowS: number): string {
  if (word === null) return t('never heard');
  return nowS - word.atS > SILENT_AFTER * periodS + 3 ? t('silent') : t('reporting');
}

/** The sensor of a kind at a machine, or in a room; of several the first by id. */
export function sensorOf(
  sensors: Iterable<Sensor>,
  kind: string,
  at: { readonly mid: string } | { readonly rid: string },
): Sensor | undefined {
  const fits = (one: Sensor): boolean => ('mid' in at ? one.mid === at.mid : one.rid === at.rid);
  return [...sensors]
    .filter((one) => one.kind === kind && fits(one))
    .sort((one, other) => one.sid.localeCompare(other.sid))[0];
}
