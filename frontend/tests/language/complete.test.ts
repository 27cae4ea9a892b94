/** No text is left out: everything people read is in the code by `t` or `n`, and translated. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DATA_WORDS } from '../../src/words-of-data';
import { renewed, shortcomings, type Sources } from './catalogue';
import { read, type Message } from './source';

const SRC = join(import.meta.dirname, '../../src');
const LOCALES = join(import.meta.dirname, '../../../smartcis/locale');
/** The list of words of data itself. */
const UNREAD = ['words-of-data.ts'];

/** Reviewed: nobody reads them. */
const REVIEWED: Readonly<Record<string, readonly string[]>> = {
  // What Leaflet and GeoJSON call shapes, and classes of the drawing.
  'editor/EditorMap.svelte': [
    ...['Polygon', 'Marker', 'Line', 'Point', 'MultiPolygon', 'LineString'],
    ...['mark mark-{}', 'drawn drawn-{} {} {}'],
  ],
  'editor/drawing.ts': ['Feature', 'FeatureCollection'],
  'editor/union.ts': ['Polygon'],
  // Names of columns, words of StreamSQL, lines for a shell, units that are the same everywhere.
  'workbench/QueryActions.svelte': ['x_m, y_m, level_id; mid, sid, door_id, node, rid'],
  'workbench/share.ts': ['curl {}', 'Accept: {}', "curl {} -H 'Content-Type: application/json'{} -d {}"],
  'workbench/values.ts': ['{}{} ms'],
  'workbench/explained.ts': ['{} ms'],
  'workbench/editor.ts': [
    'once select from where group by having order as join left on and or not in exists union all distinct with recursive',
    'create view case when then else end is null between like partition rows range seconds minutes hours true false interval',
    'output to alarm webhook key raise clear for no data after severity notify email',
    'int float decimal text bool date time timestamp timestamptz',
    'over window qualify lateral rollup cube grouping sets filter within preceding following unbounded current row groups exclude ties others slide tumble session lateness',
    'count sum min max avg median quantile_cont quantile_disc mode stddev variance bool_and bool_or count_if arg_min arg_max string_agg array_agg',
    'list_contains list_append list_concat list_position list_sort list_distinct array_to_string string_split',
    'corr covar_pop covar_samp regr_slope regr_intercept regr_r2',
    'row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value',
    'abs round trunc floor ceil sqrt power exp ln log10 mod lower upper length trim substr replace split_part concat concat_ws',
    'starts_with ends_with contains regexp_matches regexp_replace regexp_extract coalesce nullif least greatest distance',
    // Styles of the editor, which stand in its code.
    ...[
      '3px solid var(--accent)',
      '1px solid var(--accent)',
      '1px solid var(--control)',
      '4px solid var(--bad)',
    ],
    'color-mix(in srgb, var(--accent) 7%, transparent)',
    'color-mix(in srgb, var(--accent) 28%, transparent)',
    'underline wavy var(--bad) 2px',
  ],
  'panels/Legend.svelte': ['no data'], // why a room is closed, as the view says it
  // By what things are found, in both languages whatever the page speaks.
  'store/find.ts': [
    'lift elevator Aufzug Fahrstuhl',
    'stairs staircase Treppe Treppenhaus',
    'escalator Rolltreppe',
    'ramp Rampe',
    'corridor hallway passage Flur Gang Korridor',
    'room Raum Zimmer',
    'WC toilet restroom bathroom lavatory loo Toilette Klo',
    'free machine computer PC seat software program Rechner Programm Platz freier',
    'machine computer Rechner {} {}',
    'door Tür',
  ],
};

const paths = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.(ts|svelte)$/.test(path) && !UNREAD.some((part) => path.startsWith(part)))
  .sort();
const readings = new Map(paths.map((path) => [path, read(path, readFileSync(join(SRC, path), 'utf8'))]));

test.each(paths)('%s shows nothing that is not translated', (path) => {
  const faults = readings.get(path)?.faults.filter(({ text }) => !REVIEWED[path]?.includes(text));
  expect(faults).toEqual([]);
});

const texts: Sources = new Map<string, readonly Message[]>([
  ...[...readings].map(([path, { messages }]) => [`frontend/src/${path}`, messages] as const),
  ['frontend/src/words-of-data.ts', DATA_WORDS.map((one) => ({ one }))],
]);

describe.each(readdirSync(LOCALES))('the catalogue of %s', (language) => {
  const path = join(LOCALES, language, 'LC_MESSAGES/djangojs.po');

  test('has the texts of the code, and no others (renew it with --update)', async () => {
    await expect(renewed(path, texts)).toMatchFileSnapshot(path);
  });

  test('translates each of them', () => {
    expect(shortcomings(readFileSync(path, 'utf8'))).toEqual([]);
  });
});
