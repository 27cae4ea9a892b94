/** Bodies of the REST answers this page reads. Coordinates are metres, x east, y north. */
import type { Cell, Column } from '../wire/protocol';
import type { ProblemFields } from './http';

export type Point = [number, number];
export type Ring = Point[];

export interface LevelInfo {
  id: string;
  name: string;
  short_name: string;
  ordinal: number;
  bounds_m: [number, number, number, number];
}

export interface Kiosk {
  id: string;
  name: string;
  node: number;
  level_id: string;
  x_m: number;
  y_m: number;
}

export interface Building {
  slug: string;
  name: string;
  attribution: string;
  simulated_note: string;
  levels: LevelInfo[];
  default_level: string;
  kiosks: Kiosk[];
  software: string[];
}

export interface Unit {
  id: string;
  name: string;
  category: string;
  polygon: Ring[];
  label: Point;
  node: number | null;
}

export interface PlanMachine {
  mid: string;
  host: string;
  rid: string;
  node: number;
  x_m: number;
  y_m: number;
  simulated: boolean;
  software: string[];
}

export interface PlanSensor {
  sid: string;
  kind: string;
  rid: string;
  mid: string | null;
  x_m: number;
  y_m: number;
  simulated: boolean;
}

export interface Connector {
  kind: string;
  x_m: number;
  y_m: number;
}

export interface PlanDoor {
  id: string;
  x_m: number;
  y_m: number;
}

export interface Plan {
  level_id: string;
  outline: Ring[];
  units: Unit[];
  doors: PlanDoor[];
  machines: PlanMachine[];
  sensors: PlanSensor[];
  connectors: Connector[];
}

export interface RouteSession {
  session: string;
}

/** What feeds a relation from outside, and how it is. */
export interface FedBy {
  id: string;
  name: string;
  kind: string;
  state: 'live' | 'late' | 'dead' | 'off' | 'unknown';
  /** Live: heard since then; late and dead: heard last. Seconds since 1970. */
  since_s: number | null;
  reason: string;
}

export interface Source {
  name: string;
  kind: string;
  comment?: string;
  columns: (Column & { nullable?: boolean })[];
  fed_by?: FedBy[];
}

/** How a query's rows are shown; columns from `width` on only serve the order. */
export interface Order {
  keys: { column: string; descending: boolean; nulls_last: boolean }[];
  width: number;
}

/** What a one-shot query found; the rows stand right before a position of the log. */
export interface Answer {
  kind: 'answer';
  columns: Column[];
  rows: Cell[][];
  epoch: number;
  position: number;
  at_s: number;
  total: number;
}

/** What a statement changed. */
export interface Done {
  kind: 'done';
  statement: string;
  name: string;
  changed: number;
}

export type LocatedBy = 'point' | 'mid' | 'sid' | 'door_id' | 'kiosk_id' | 'node' | 'rid';

export interface RunningQuery {
  kind?: undefined;
  id: string;
  name: string | null;
  sql: string;
  state: string;
  /** The shared view that answers it. */
  view?: string;
  strategy?: string;
  strategy_reason?: string;
  /** own, trunk or tenant: what its dataflow has in common with others. */
  sharing?: string;
  sharing_reason?: string;
  where?: 'engine' | 'network';
  columns: Column[];
  /** What says where its rows are; null where nothing does. */
  located_by?: LocatedBy | null;
  order?: Order | null;
  /** Where its changes go besides this page. */
  outputs?: string[];
  calls?: { pending: number; delivered: number; given_up: number } | null;
  mine?: boolean;
  error?: ProblemFields | null;
}

/** A base row an answer rests on. */
export interface Fact {
  relation: string;
  /** Column → value; empty when the row is another visitor's. */
  row: Record<string, Cell>;
  /** Without it the answer is gone. */
  necessary: boolean;
  hidden: boolean;
}

/** What a row of a view rests on; each set suffices, smallest first. */
export interface Reasons {
  sets: Fact[][];
  /** All sets are listed; otherwise one of many. */
  complete: boolean;
  at_s: number;
}

/** An open value of a row that is missing: any that meets the conditions. */
export interface Open {
  open: string;
}

/** A base row that would have to come, go or change. */
export interface Edit {
  action: 'insert' | 'delete' | 'change';
  relation: string;
  before: Record<string, Cell> | null;
  after: Record<string, Cell | Open> | null;
  /** The row is another visitor's, and left out. */
  hidden: boolean;
}

/** Edits that together make a row appear, and conditions on their open values. */
export interface Repair {
  edits: Edit[];
  conditions: string[];
}

/** What is missing for a row; smallest first. */
export interface Missing {
  repairs: Repair[];
  complete: boolean;
}

/** How a view would change under a supposition; rows by column. */
export interface Difference {
  gone: Record<string, Cell>[];
  come: Record<string, Cell>[];
}

/** Why a text may not be run in a way; empty where it may. */
export interface Ways {
  live: string;
  once: string;
}

/** How much one may ask, and how much of it is used. */
export interface Limits {
  may_query: boolean;
  queries: number;
  queries_at_most: number | null;
  rows_at_most: number;
  once_rows_at_most: number;
  text_at_most: number;
  once_wait_s: number;
  rates: { scope: string; at_most: number; per_s: number; left: number }[];
}

export type Checked =
  { ok: true; kind?: string; columns: Column[]; ways?: Ways } | ({ ok: false } & ProblemFields);
