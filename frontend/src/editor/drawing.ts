/**
 * The plan as it is drawn: features of the product's own GeoJSON, which importing reads back.
 *
 * A feature that nobody touches keeps its text; one that is moved loses what the product had said of its
 * neighbours, so that the import looks for them again.
 */
import { t } from '../language';
import type { Position } from './plane';

export type Ring = readonly Position[];
export type Geometry =
  | { readonly type: 'Point'; readonly coordinates: Position }
  | { readonly type: 'LineString'; readonly coordinates: Ring }
  | { readonly type: 'Polygon'; readonly coordinates: readonly Ring[] }
  | { readonly type: 'MultiPolygon'; readonly coordinates: readonly (readonly Ring[])[] };

/** What the product wrote of a feature, for itself. */
export interface Own {
  readonly is: string;
  readonly rid?: string;
  readonly between?: readonly string[];
  readonly derived?: boolean;
}

export interface Feature {
  readonly type: 'Feature';
  readonly id: string;
  readonly geometry: Geometry | null;
  readonly properties: { readonly smartcis?: Own } & Readonly<Record<string, unknown>>;
}

export interface Floor {
  readonly ordinal: number;
  readonly name: string;
}

/** Everything that is sent to be imported. */
export interface Plan {
  readonly id: string;
  readonly name: string;
  readonly attribution: string;
  readonly origin: Position;
  readonly levels: readonly Floor[];
  readonly features: readonly Feature[];
}

/** What is drawn and can be changed; all else travels along untouched. */
export type Sort = 'space' | 'door' | 'entrance' | 'riser' | 'path';

export const spaces = (): readonly (readonly [string, string])[] => [
  ['room', t('Room')],
  ['office', t('Office')],
  ['classroom', t('Classroom')],
  ['laboratory', t('Laboratory')],
  ['conferenceroom', t('Meeting room')],
  ['walkway', t('Corridor')],
  ['lobby', t('Lobby')],
  ['stairs', t('Stairs')],
  ['elevator', t('Lift')],
  ['ramp', t('Ramp')],
  ['restroom', t('Toilet')],
  ['kitchen', t('Kitchen')],
  ['storage', t('Storage')],
];
export const risers = (): readonly (readonly [string, string])[] => [
  ['stairs', t('Stairs')],
  ['elevator', t('Lift')],
  ['ramp', t('Ramp')],
];
export const isSpace = (kind: string): boolean => spaces().some(([key]) => key === kind);
export const isRiser = (kind: string): boolean => risers().some(([key]) => key === kind);

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

export const nameOf = (feature: Feature): string => text(feature.properties.name);
export const categoryOf = (feature: Feature): string =>
  text(feature.properties.category) || text(feature.properties.kind) || 'room';

/** The levels a feature is on: one, but for ways between levels. */
export function levelsOf(feature: Feature): readonly number[] {
  const said = feature.properties.level;
  if (typeof said === 'number') return [said];
  if (typeof said === 'string') return said.split(';').map(Number);
  const stops = (feature.properties.smartcis as { levels?: unknown } | undefined)?.levels;
  return Array.isArray(stops) ? stops.map(Number) : [];
}

export function sortOf(feature: Feature): Sort | null {
  const own = feature.properties.smartcis?.is;
  if (own === 'unit') return 'space';
  if (own === 'opening') return 'door';
  if (own === 'entrance' || own === 'riser') return own;
  if (own !== undefined || feature.geometry === null) return null;
  const kind = text(feature.properties.kind);
  if (feature.geometry.type === 'Polygon' || feature.geometry.type === 'MultiPolygon')
    return isSpace(kind) ? 'space' : null;
  if (kind === 'door' || kind === 'entrance' || kind === 'path') return kind;
  return isRiser(kind) ? 'riser' : null;
}

/** What a feature is called where people choose it. */
export function title(feature: Feature): string {
  const sort = sortOf(feature);
  if (sort === 'space') {
    const category = spaces().find(([key]) => key === categoryOf(feature))?.[1] ?? categoryOf(feature);
    const names = [nameOf(feature), feature.properties.smartcis?.rid ?? ''];
    const called = names.find((one) => one !== '') ?? t('without a name');
    return `${category} ${called}`;
  }
  if (sort === 'door') return feature.properties.door === null ? t('Opening') : t('Door');
  if (sort === 'entrance')
    return nameOf(feature) ? t('Entrance {name}', { name: nameOf(feature) }) : t('Entrance');
  if (sort === 'path') return t('Way people walk');
  const riser = risers().find(([key]) => key === categoryOf(feature))?.[1] ?? t('Way');
  return t('{riser} between floors', { riser });
}

export function drawn(kind: string, levels: readonly number[], geometry: Geometry, name = ''): Feature {
  const level = levels.length === 1 ? levels[0] : levels.join(';');
  return {
    type: 'Feature',
    id: crypto.randomUUID(),
    geometry,
    properties: { kind, level, name: name || null },
  };
}

/** A feature with another geometry. A door or an entrance looks for its rooms again. */
export function reshaped(feature: Feature, geometry: Geometry): Feature {
  const sort = sortOf(feature);
  if (sort === 'space' || feature.properties.smartcis === undefined) return { ...feature, geometry };
  return { ...drawn(sort ?? 'door', levelsOf(feature), geometry, nameOf(feature)), id: feature.id };
}

export const renamed = (feature: Feature, name: string): Feature => ({
  ...feature,
  properties: { ...feature.properties, name: name || null },
});

export const recategorised = (feature: Feature, category: string): Feature => ({
  ...feature,
  properties: { ...feature.properties, category, kind: category },
});

/** The features without one of them, and without the doors and entrances of a room that goes. */
export function without(features: readonly Feature[], gone: Feature): readonly Feature[] {
  const rid = gone.properties.smartcis?.rid;
  const room = sortOf(gone) === 'space' && rid !== undefined;
  return features.filter((one) => {
    if (one.id === gone.id) return false;
    const own = one.properties.smartcis;
    if (!room || own === undefined || own.is === 'unit') return true;
    return own.rid !== rid && !(own.between ?? []).includes(rid);
  });
}

/** A door or an entrance of one room as that of another. */
function of(feature: Feature, old: string, rid: string): Feature {
  const own = feature.properties.smartcis;
  if (own === undefined) return feature;
  const told: Own = {
    ...own,
    ...(own.rid === old && { rid }),
    ...(own.between && { between: own.between.map((its) => (its === old ? rid : its)) }),
  };
  return { ...feature, properties: { ...feature.properties, smartcis: told } };
}

/** The features with one room instead of two: it is called as the first, and has the doors of both. */
export function joined(
  features: readonly Feature[],
  [kept, taken]: readonly [Feature, Feature],
  geometry: Geometry,
): readonly Feature[] {
  const [rid, old] = [kept.properties.smartcis?.rid, taken.properties.smartcis?.rid];
  const left: Feature[] = [];
  for (const one of features) {
    if (one.id === taken.id) continue;
    if (one.id === kept.id) {
      left.push({ ...kept, geometry });
      continue;
    }
    const own = one.properties.smartcis;
    if (old === undefined || own === undefined || own.is === 'unit') {
      left.push(one);
      continue;
    }
    const between = own.between ?? [];
    if (rid !== undefined && between.includes(rid) && between.includes(old)) continue; // it stood between them
    if (!between.includes(old) && own.rid !== old) left.push(one);
    else if (rid !== undefined) left.push(of(one, old, rid));
    else if (one.geometry !== null && sortOf(one) !== null) left.push(reshaped(one, one.geometry));
  }
  return left;
}

/** The file that is imported. */
export function fileOf(plan: Plan): string {
  return JSON.stringify({ type: 'FeatureCollection', ...plan });
}
