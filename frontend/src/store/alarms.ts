/** The alarms that stand: rows of queries with OUTPUT TO ALARM. */
import { number, records, type Table } from './table';

export interface Alarm {
  readonly id: string;
  /** The query that raised it. */
  readonly name: string;
  /** Which alarm, where the query names one. */
  readonly target: string;
  readonly message: string;
  readonly raisedS: number;
}

/** The alarms, newest first. */
export function alarms(table: Table): Alarm[] {
  return records(table)
    .map((record) => ({
      id: String(record.alarm_id),
      name: String(record.name ?? ''),
      target: String(record.target ?? ''),
      message: String(record.message ?? ''),
      raisedS: number(record.raised_s) ?? 0,
    }))
    .sort((a, b) => b.raisedS - a.raisedS || Number(b.id) - Number(a.id));
}
