/** What rooms are called where many stand in a row: each so that it is told from the others. */
import type { Level, Plan } from '../api/schema';
import { grouped } from '../lists';
import { onFloor } from './words';
import { titleOf } from './world';

/** "Room 1212"; "Room 1212, floor 2" if another floor has one, "Toilet (L2-wc-1)" if the same floor has. */
export function titlesOf(plans: readonly Plan[], levels: readonly Level[]): ReadonlyMap<string, string> {
  const floors = new Map(levels.map(({ id, name }) => [id, name]));
  const all = plans.flatMap(({ level_id, units }) =>
    units.map((unit) => {
      const title = titleOf({ ...unit, rid: unit.id });
      return { rid: unit.id, title, long: onFloor(title, floors.get(level_id) ?? level_id) };
    }),
  );
  const alike = grouped(all, ({ title }) => title);
  const here = grouped(all, ({ long }) => long);
  return new Map(
    all.map(({ rid, title, long }) => {
      if ((alike.get(title)?.length ?? 0) === 1) return [rid, title];
      return [rid, (here.get(long)?.length ?? 0) === 1 ? long : `${title} (${rid})`];
    }),
  );
}
