"""Joins of many inputs: cycles over graphs with and without a hub, and a star on keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from random import Random

from tests.bench.peers.cases import Case, Row, shuffled
from tests.bench.peers.graphs import SEED, Link

STAR_WIDTH = 7

TRIANGLE = """SELECT a.src AS x, b.src AS y, c.src AS z FROM link a, link b, link c
    WHERE a.dst = b.src AND b.dst = c.src AND c.dst = a.src"""
CLIQUE = """SELECT ab.src AS a, ab.dst AS b, cd.src AS c, cd.dst AS d
    FROM link ab, link ac, link bc, link ad, link bd, link cd
    WHERE ab.src = ac.src AND ab.dst = bc.src AND ac.dst = bc.dst
    AND ab.src = ad.src AND ab.dst = bd.src AND ac.dst = cd.src
    AND ad.dst = bd.dst AND ad.dst = cd.dst"""
_VALUES = ", ".join(f"p{n}.v AS v{n}" for n in range(STAR_WIDTH))
STAR = f"SELECT p0.item AS item, {_VALUES} FROM part0 p0 " + " ".join(
    f"JOIN part{n} p{n} ON p{n}.item = p0.item" for n in range(1, STAR_WIDTH)
)
OVER_GRAPHS = {"triangle": TRIANGLE, "4-clique": CLIQUE}


def hub(spokes: int) -> list[Link]:
    """Returns links from many places to one and from it to others: many paths, and no triangle."""
    into = [(place, 0, 1) for place in range(1, spokes + 1)]
    return into + [(0, spokes + place, 1) for place, _, _ in into]


def scattered(places: int, links: int, power: int) -> list[Link]:
    """Returns random links; the higher the power, the more of them meet at few places."""
    random = Random(SEED)
    found: dict[Link, None] = {}
    while len(found) < links:
        src, dst = (int(places * random.random() ** power) for _ in range(2))
        if src != dst:
            found[src, dst, 1] = None
    return list(found)


GRAPHS: dict[str, Callable[[], list[Link]]] = {
    "hub 600": partial(hub, 300),
    "hub 4000": partial(hub, 2_000),
    "uniform 3000": partial(scattered, 500, 3_000, 1),
    "uniform 20000": partial(scattered, 3_000, 20_000, 1),
    "skewed 10000": partial(scattered, 2_000, 10_000, 3),
}
STARS = (1_000, 10_000)
QUICK_GRAPHS, QUICK_STARS = ("hub 600", "uniform 3000"), STARS[:1]


def join_cases(*, quick: bool) -> Iterator[Case]:
    """Returns the cases, one by one: the larger graphs need not be there together."""
    for name in QUICK_GRAPHS if quick else GRAPHS:
        for query in OVER_GRAPHS:
            yield over_graph(name, query, GRAPHS[name]())
    for items in QUICK_STARS if quick else STARS:
        yield star(items)


def over_graph(name: str, query: str, links: list[Link]) -> Case:
    """Returns the case of a graph and a query; any of its links is changed."""
    return shuffled(name, query, OVER_GRAPHS[query], {"link": [*links]}, "link")


def star(items: int) -> Case:
    """Returns a star on keys; a row of its second input is changed."""
    parts: dict[str, list[Row]] = {
        f"part{n}": [(item, item % (n + 2)) for item in range(items)] for n in range(STAR_WIDTH)
    }
    return shuffled(f"star {items}", "seven-way star", STAR, parts, "part1")
