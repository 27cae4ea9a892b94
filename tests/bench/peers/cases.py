"""Cases: a graph, a query, the rows to load, and the changes in their order."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

from tests.bench.peers.graphs import GRAPHS, SEED, Link

Row = tuple[int, ...]

ALL_PAIRS_AT_MOST = 1_100_000
"""Rows of an answer; beyond it all pairs are left to one source, for every engine."""

REGIONS, TRIGGERED = 5, 0.7
"""Seeds of regions, and the share of triggered places."""

QUERIES = {
    "reachability": """
        WITH RECURSIVE reach(src, dst) AS (
            SELECT l.src, l.dst FROM link l
          UNION
            SELECT r.src, l.dst FROM reach r JOIN link l ON l.src = r.dst
        ) SELECT src, dst FROM reach""",
    "cheapest, one source": """
        WITH RECURSIVE walk(origin, node, cost) AS (
            SELECT o.node, o.node, 0 FROM origin o
          UNION
            SELECT w.origin, l.dst, MIN(w.cost + l.cost)
            FROM walk w JOIN link l ON l.src = w.node
            GROUP BY w.origin, l.dst
        ) SELECT origin, node, cost FROM walk""",
    "regions": """
        WITH RECURSIVE region(seed, node) AS (
            SELECT s.seed, s.node FROM region_seed s JOIN triggered t ON t.node = s.node
          UNION
            SELECT r.seed, l.dst
            FROM region r JOIN link l ON l.src = r.node JOIN triggered t ON t.node = l.dst
        ) SELECT seed, node FROM region""",
}
QUERIES["cheapest, all pairs"] = QUERIES["cheapest, one source"]


@dataclass(frozen=True, slots=True)
class Case:
    """One comparison.

    Args:
        sql: in StreamSQL; the peers have their own ways of saying it.
        tables: rows to load.
        changed: the relation whose rows are deleted and inserted again, one at a time.
        order: those rows.
    """

    graph: str
    query: str
    sql: str
    tables: dict[str, list[Row]]
    changed: str
    order: list[Row]

    @property
    def name(self) -> str:
        """What the report calls it."""
        return f"{self.graph}: {self.query}"

    def write(self, folder: Path) -> Path:
        """Put it where the engines' processes read it."""
        path = folder / f"{self.name.replace(':', '').replace(' ', '-')}.json"
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")
        return path


def make(graph: str, query: str, links: list[Link]) -> Case | None:
    """Returns the case of a graph and a query; None where its answer would be too large."""
    random = Random(SEED)
    places = sorted({link[0] for link in links} | {link[1] for link in links})
    tables: dict[str, list[Row]] = {"link": [*links]}
    changed = "link"
    if query == "regions":
        tables["region_seed"] = list(enumerate(random.sample(places, REGIONS)))
        triggered = random.sample(places, round(TRIGGERED * len(places)))
        tables["triggered"] = [(place,) for place in triggered]
        changed = "triggered"
    elif query == "cheapest, one source":
        tables["origin"] = [(random.choice(places),)]
    elif len(places) ** 2 > ALL_PAIRS_AT_MOST:
        return None
    elif query == "cheapest, all pairs":
        tables["origin"] = [(place,) for place in places]
    return shuffled(graph, query, QUERIES[query], tables, changed, random)


def shuffled(
    graph: str,
    query: str,
    sql: str,
    tables: dict[str, list[Row]],
    changed: str,
    random: Random | None = None,
) -> Case:
    """Returns a case with its rows in a random order, and one in which they are changed.

    Args:
        random: draws the orders; one that begins with the seed if None.
    """
    random = random or Random(SEED)
    order = list(tables[changed])
    random.shuffle(order)
    for rows in tables.values():
        random.shuffle(rows)
    return Case(graph, query, sql, tables, changed, order)


def graph(name: str) -> list[Link]:
    """Returns the links of a graph by name."""
    return GRAPHS[name]()
