"""Recursions that are no walks as they are written, or that are counted."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from tests.bench.peers.cases import Case, Row, graph, shuffled
from tests.bench.peers.graphs import SEED, Link

SQUARED = """
    WITH RECURSIVE reach(src, dst) AS (
        SELECT l.src, l.dst FROM link l
      UNION
        SELECT a.src, b.dst FROM reach a JOIN reach b ON a.dst = b.src
    ) SELECT src, dst FROM reach"""
SAME_GENERATION = """
    WITH RECURSIVE same(x, y) AS (
        SELECT a.dst, b.dst FROM link a JOIN link b ON a.src = b.src
      UNION
        SELECT a.dst, b.dst FROM link a JOIN same s ON s.x = a.src JOIN link b ON b.src = s.y
    ) SELECT x, y FROM same"""
EVEN = """
    WITH RECURSIVE
    odd(src, dst) AS (
        SELECT l.src, l.dst FROM link l
      UNION
        SELECT e.src, l.dst FROM even e JOIN link l ON l.src = e.dst),
    even(src, dst) AS (SELECT o.src, l.dst FROM odd o JOIN link l ON l.src = o.dst)
    SELECT src, dst FROM even"""
POINTS_TO = """
    WITH RECURSIVE
    points(var, obj) AS (
        SELECT m.var, m.obj FROM made m
      UNION
        SELECT a.var, p.obj FROM assigned a JOIN points p ON p.var = a.of
      UNION
        SELECT l.var, h.other
        FROM loaded l JOIN points p ON p.var = l.base JOIN heap h ON h.one = p.obj),
    heap(one, other) AS (
        SELECT b.obj, p.obj
        FROM stored s JOIN points b ON b.var = s.base JOIN points p ON p.var = s.of)
    SELECT var, obj FROM points"""
MATERIALS = """
    WITH RECURSIVE uses(whole, part, pieces) AS (
        SELECT l.src, l.dst, l.cost FROM link l
      UNION ALL
        SELECT u.whole, l.dst, u.pieces * l.cost FROM uses u JOIN link l ON l.src = u.part
    ) SELECT whole, part, SUM(pieces) AS pieces FROM uses GROUP BY whole, part"""
NEAR = """
    WITH RECURSIVE near(src, dst, hops) AS (
        SELECT l.src, l.dst, 1 FROM link l
      UNION
        SELECT n.src, l.dst, n.hops + 1 FROM near n JOIN link l ON l.src = n.dst WHERE n.hops < 3
    ) SELECT src, COUNT(DISTINCT dst) AS places FROM near GROUP BY src"""


def family(members: int) -> list[Link]:
    """Returns links from parents to children: everybody but the first has one or two."""
    random = Random(SEED)
    pairs = {(random.randrange(child), child) for child in range(1, members) for _ in range(2)}
    return [(parent, child, 1) for parent, child in sorted(pairs)]


def assembly(levels: int, width: int) -> list[Link]:
    """Returns what is made of what: each part of two of the next level, one to four pieces."""
    random = Random(SEED)
    return [
        (level * width + part, (level + 1) * width + other, random.randint(1, 4))
        for level in range(levels - 1)
        for part in range(width)
        for other in random.sample(range(width), 2)
    ]


def program(variables: int) -> dict[str, list[Row]]:
    """Returns the statements of a program without branches."""
    random = Random(SEED)

    def pairs(number: int, others: int = variables) -> list[Row]:
        found = {(random.randrange(variables), random.randrange(others)) for _ in range(number)}
        return sorted(found)

    some = variables // 4
    return {
        "made": pairs(some, some),
        "assigned": pairs(variables),
        "stored": pairs(some),
        "loaded": pairs(some),
    }


def recursion_cases(*, quick: bool) -> Iterator[Case]:
    """Returns the cases, one by one."""
    for name in ("network 100 dense",) if quick else ("network 100 dense", "network 300 dense"):
        yield over_links(name, "non-linear closure", graph(name))
        yield over_links(name, "mutual recursion", graph(name))
    for members in (100,) if quick else (100, 300):
        yield over_links(f"family {members}", "same generation", family(members))
    for variables in (100,) if quick else (100, 400):
        yield points_to(variables)
    for width in (10,) if quick else (10, 40):
        yield over_links(f"assembly {7 * width}", "bill of materials", assembly(7, width))
    for name in ("grid 225",) if quick else ("grid 625", "network 1000 sparse"):
        yield over_links(name, "places within 3 hops", graph(name))


OVER_LINKS = {
    "non-linear closure": SQUARED,
    "mutual recursion": EVEN,
    "same generation": SAME_GENERATION,
    "bill of materials": MATERIALS,
    "places within 3 hops": NEAR,
}


def over_links(name: str, query: str, links: list[Link]) -> Case:
    """Returns the case of a graph and a query; any of its links is changed."""
    return shuffled(name, query, OVER_LINKS[query], {"link": [*links]}, "link")


def points_to(variables: int) -> Case:
    """Returns what the variables of a program may point to; an assignment is changed."""
    tables = program(variables)
    return shuffled(f"program {variables}", "points-to", POINTS_TO, tables, "assigned")
