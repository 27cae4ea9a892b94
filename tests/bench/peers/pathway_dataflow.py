"""Pathway: differential dataflow in Rust, in its own environment (`docker/setup.sh peers`).

The same query as a dataflow with `iterate`; every change of the answer is delivered to Python, as
ours is. A row that counts the changes travels with the answer, so that an epoch that changes
nothing is seen to end too.
"""

from __future__ import annotations

import logging
import threading
from typing import Any

import pathway as pw

from .relations import RELATIONS
from .worker import WRAP, Digest, Row, Script, Tables, serve

KINDS = {name: number for number, name in enumerate(RELATIONS)}


class Input(pw.Schema):  # type: ignore[misc] # Pathway lives elsewhere
    """A row of any relation, so that what belongs together has one commit and one time."""

    kind: int = pw.column_definition(primary_key=True)
    a: int = pw.column_definition(primary_key=True)
    b: int = pw.column_definition(primary_key=True)
    c: int = pw.column_definition(primary_key=True)


class Feed(pw.io.python.ConnectorSubject):  # type: ignore[misc] # the same
    """Runs the script on Pathway's reader thread."""

    def __init__(self, session: PathwaySession, script: Script) -> None:
        super().__init__(datasource_name="bench")
        self._session = session
        self._script = script
        self.found: dict[str, Any] = {}

    @property
    def _deletions_enabled(self) -> bool:
        # Pathway looks for calls of `delete` in the source text of `run` and cannot see ours.
        return True

    def run(self) -> None:
        """Feed until the script ends."""
        self.found = self._script(self._session)

    def put(self, relation: str, row: Row, weight: int) -> None:
        """Insert or delete a row."""
        a, b, c = (*row, 0, 0)[:3]
        if weight > 0:
            self.next(kind=KINDS[relation], a=a, b=b, c=c)
        else:
            self.delete(kind=KINDS[relation], a=a, b=b, c=c)


class PathwaySession:
    """A dataflow, its input and what it delivers.

    Args:
        keep: add up what is delivered, so that the answer can be told.
    """

    def __init__(self, case: dict[str, Any], script: Script, *, keep: bool) -> None:
        self._tables: Tables = case["tables"]
        self._keep = keep
        self._seen = threading.Event()
        self._ended = threading.Event()
        self._count = self._sum = self._heard = 0
        self.feed = Feed(self, script)
        rows = pw.io.python.read(self.feed, schema=Input, autocommit_duration_ms=None)
        answer = QUERIES[case["query"]](rows).update_id_type(pw.Pointer)
        self._columns = list(answer.column_names())
        counted = rows.reduce(mark=-1 - pw.reducers.count())
        mark = counted.select(**dict.fromkeys(self._columns, counted.mark))
        mark = mark.update_id_type(pw.Pointer)
        pw.universes.promise_are_pairwise_disjoint(answer, mark)
        pw.io.subscribe(answer.concat(mark), self._on_change, on_time_end=self._on_time_end)

    def load(self) -> None:
        """Commit all rows at once."""
        for name, rows in self._tables.items():
            for row in rows:
                self.feed.put(name, row, 1)
        self._commit()

    def change(self, relation: str, row: Row, weight: int) -> None:
        """Commit one row."""
        self.feed.put(relation, row, weight)
        self._commit()

    def digest(self) -> Digest:
        """Returns the digest of all that was delivered."""
        return self._count, self._sum % WRAP

    def _commit(self) -> None:
        self._seen.clear()
        self._ended.clear()
        self.feed.commit()
        self._ended.wait()

    def _on_change(self, key: Any, row: dict[str, int], time: int, is_addition: bool) -> None:  # noqa: FBT001 - Pathway calls it
        del key, time
        self._heard += 1
        first = row[self._columns[0]]
        if first < 0:
            self._seen.set()
        elif self._keep:
            weight = 1 if is_addition else -1
            self._count += weight
            self._sum += weight * hash(tuple(row[column] for column in self._columns))

    def _on_time_end(self, time: int) -> None:
        del time
        if self._seen.is_set():
            self._ended.set()


def _relation(rows: pw.Table, name: str) -> pw.Table:
    columns = zip(RELATIONS[name], ("a", "b", "c"), strict=False)
    mine = rows.filter(rows.kind == KINDS[name])
    return mine.select(**{column: mine[place] for column, place in columns})


def _pairs(table: pw.Table) -> pw.Table:
    """Each row once; tables have two columns."""
    one, other = (table[name] for name in table.column_names())
    return table.groupby(one, other).reduce(one, other)


def _reachability(rows: pw.Table) -> pw.Table:
    link = _relation(rows, "link")
    base = _pairs(link.select(link.src, link.dst))

    def step(reach: pw.Table, link: pw.Table, base: pw.Table) -> dict[str, pw.Table]:
        further = reach.join(link, reach.dst == link.src).select(reach.src, link.dst)
        return {"reach": _pairs(base.concat_reindex(further))}

    return pw.iterate(step, reach=pw.iterate_universe(base), link=link, base=base).reach


def _cheapest(rows: pw.Table) -> pw.Table:
    link, origin = _relation(rows, "link"), _relation(rows, "origin")
    start = origin.select(origin=origin.node, node=origin.node, cost=0)
    base = start.groupby(start.origin, start.node).reduce(
        start.origin, start.node, cost=pw.reducers.min(start.cost)
    )

    def step(walk: pw.Table, link: pw.Table, base: pw.Table) -> dict[str, pw.Table]:
        further = walk.join(link, walk.node == link.src).select(
            walk.origin, node=link.dst, cost=walk.cost + link.cost
        )
        both = base.concat_reindex(further)
        best = both.groupby(both.origin, both.node).reduce(
            both.origin, both.node, cost=pw.reducers.min(both.cost)
        )
        return {"walk": best}

    return pw.iterate(step, walk=pw.iterate_universe(base), link=link, base=base).walk


def _regions(rows: pw.Table) -> pw.Table:
    link, seed = _relation(rows, "link"), _relation(rows, "region_seed")
    triggered = _relation(rows, "triggered")
    active = link.join(triggered, link.dst == triggered.node).select(link.src, link.dst)
    begun = seed.join(triggered, seed.node == triggered.node).select(seed.seed, seed.node)
    base = _pairs(begun)

    def step(region: pw.Table, link: pw.Table, base: pw.Table) -> dict[str, pw.Table]:
        further = region.join(link, region.node == link.src).select(region.seed, node=link.dst)
        return {"region": _pairs(base.concat_reindex(further))}

    return pw.iterate(step, region=pw.iterate_universe(base), link=active, base=base).region


def _triangle(rows: pw.Table) -> pw.Table:
    ab = _relation(rows, "link")
    bc, ca = ab.copy(), ab.copy()
    path = ab.join(bc, ab.dst == bc.src).select(x=ab.src, y=ab.dst, z=bc.dst)
    return path.join(ca, path.z == ca.src, path.x == ca.dst).select(path.x, path.y, path.z)


def _clique(rows: pw.Table) -> pw.Table:
    ab = _relation(rows, "link")
    ac, bc, ad, bd, cd = (ab.copy() for _ in range(5))
    two = ab.join(ac, ab.src == ac.src).select(a=ab.src, b=ab.dst, c=ac.dst)
    three = two.join(bc, two.b == bc.src, two.c == bc.dst).select(two.a, two.b, two.c)
    four = three.join(ad, three.a == ad.src).select(three.a, three.b, three.c, d=ad.dst)
    five = four.join(bd, four.b == bd.src, four.d == bd.dst).select(four.a, four.b, four.c, four.d)
    return five.join(cd, five.c == cd.src, five.d == cd.dst).select(five.a, five.b, five.c, five.d)


def _star(rows: pw.Table) -> pw.Table:
    first = _relation(rows, "part0")
    found = first.select(item=first.item, v0=first.v)
    for number in range(1, 7):
        part = _relation(rows, f"part{number}")
        kept = [found[name] for name in found.column_names()]
        joined = found.join(part, found.item == part.item)
        found = joined.select(*kept, **{f"v{number}": part.v})
    return found


def _squared(rows: pw.Table) -> pw.Table:
    link = _relation(rows, "link")
    base = _pairs(link.select(link.src, link.dst))

    def step(reach: pw.Table, base: pw.Table) -> dict[str, pw.Table]:
        other = reach.copy()
        further = reach.join(other, reach.dst == other.src).select(reach.src, other.dst)
        return {"reach": _pairs(base.concat_reindex(further))}

    return pw.iterate(step, reach=pw.iterate_universe(base), base=base).reach


def _same_generation(rows: pw.Table) -> pw.Table:
    link = _relation(rows, "link")
    sibling = link.copy()
    born = link.join(sibling, link.src == sibling.src).select(x=link.dst, y=sibling.dst)
    base = _pairs(born)

    def step(same: pw.Table, link: pw.Table, base: pw.Table) -> dict[str, pw.Table]:
        below, other = same.join(link, same.x == link.src).select(x=link.dst, y=same.y), link.copy()
        both = below.join(other, below.y == other.src).select(below.x, y=other.dst)
        return {"same": _pairs(base.concat_reindex(both))}

    return pw.iterate(step, same=pw.iterate_universe(base), link=link, base=base).same


def _mutual(rows: pw.Table) -> pw.Table:
    link = _relation(rows, "link")
    base = _pairs(link.select(link.src, link.dst))
    none = base.filter(base.src < 0)

    def step(odd: pw.Table, even: pw.Table, link: pw.Table, base: pw.Table) -> dict[str, pw.Table]:
        further = even.join(link, even.dst == link.src).select(even.src, link.dst)
        evens = odd.join(link, odd.dst == link.src).select(odd.src, link.dst)
        return {"odd": _pairs(base.concat_reindex(further)), "even": _pairs(evens)}

    begun = {"odd": pw.iterate_universe(base), "even": pw.iterate_universe(none)}
    return pw.iterate(step, **begun, link=link, base=base).even


def _points_to(rows: pw.Table) -> pw.Table:
    names = ("made", "assigned", "stored", "loaded")
    made, assigned, stored, loaded = (_relation(rows, name) for name in names)
    base = _pairs(made)
    empty = base.filter(base.var < 0)
    none = empty.select(one=empty.var, other=empty.obj)

    def step(
        points: pw.Table,
        heap: pw.Table,
        base: pw.Table,
        assigned: pw.Table,
        stored: pw.Table,
        loaded: pw.Table,
    ) -> dict[str, pw.Table]:
        copied = assigned.join(points, assigned.of == points.var).select(assigned.var, points.obj)
        into = stored.join(points, stored.base == points.var).select(one=points.obj, of=stored.of)
        held = points.copy()
        cells = into.join(held, into.of == held.var).select(into.one, other=held.obj)
        begun = loaded.join(points, loaded.base == points.var).select(loaded.var, points.obj)
        read = begun.join(heap, begun.obj == heap.one).select(begun.var, obj=heap.other)
        return {
            "points": _pairs(base.concat_reindex(copied, read)),
            "heap": _pairs(cells),
        }

    begun = {"points": pw.iterate_universe(base), "heap": pw.iterate_universe(none)}
    given = {"assigned": assigned, "stored": stored, "loaded": loaded}
    return pw.iterate(step, **begun, base=base, **given).points


def _materials(rows: pw.Table) -> pw.Table:
    link = _relation(rows, "link")
    base = link.select(whole=link.src, part=link.dst, pieces=link.cost)

    def step(uses: pw.Table, link: pw.Table, base: pw.Table) -> dict[str, pw.Table]:
        further = uses.join(link, uses.part == link.src).select(
            uses.whole, part=link.dst, pieces=uses.pieces * link.cost
        )
        both = base.concat_reindex(further)
        total = both.groupby(both.whole, both.part).reduce(
            both.whole, both.part, pieces=pw.reducers.sum(both.pieces)
        )
        return {"uses": total}

    return pw.iterate(step, uses=pw.iterate_universe(base), link=link, base=base).uses


def _near(rows: pw.Table) -> pw.Table:
    link = _relation(rows, "link")
    places = found = _pairs(link.select(link.src, link.dst))
    for _ in range(2):
        further = places.join(link, places.dst == link.src).select(places.src, link.dst)
        places = _pairs(further)
        found = found.concat_reindex(places)
    once = _pairs(found)
    return once.groupby(once.src).reduce(once.src, places=pw.reducers.count())


QUERIES = {
    "triangle": _triangle,
    "4-clique": _clique,
    "seven-way star": _star,
    "reachability": _reachability,
    "cheapest, one source": _cheapest,
    "cheapest, all pairs": _cheapest,
    "regions": _regions,
    "non-linear closure": _squared,
    "same generation": _same_generation,
    "mutual recursion": _mutual,
    "points-to": _points_to,
    "bill of materials": _materials,
    "places within 3 hops": _near,
}


def drive(case: dict[str, Any], keep: bool, script: Script) -> dict[str, Any]:  # noqa: FBT001 - the worker's protocol
    """Run a script on the reader thread of a dataflow."""
    logging.disable(logging.WARNING)
    session = PathwaySession(case, script, keep=keep)
    pw.run(monitoring_level=pw.MonitoringLevel.NONE)
    return session.feed.found


if __name__ == "__main__":
    serve(drive)
