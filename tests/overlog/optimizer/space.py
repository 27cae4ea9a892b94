"""What the optimizer's rules read, and the same optimizer from scratch in plain Python."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path

from aspen.model.catalog import Catalog
from aspen.model.schema import Column, Relation, Type
from aspen.overlog import compile_program
from aspen.streamsql import Compiled

Tables = dict[str, set[tuple]]
Node = tuple[str, str]

_TEXT, _INT = Type.TEXT, Type.INT
NONE = "-"


def _relation(name: str, **columns: Type) -> Relation:
    return Relation(name, tuple(Column(column, kind) for column, kind in columns.items()))


CATALOG = Catalog.of(
    [
        _relation("goal", e=_TEXT, p=_TEXT),
        _relation("isleaf", e=_TEXT, yes=Type.BOOL),
        _relation(
            "fn_split",
            e=_TEXT,
            p=_TEXT,
            i=_INT,
            log=_TEXT,
            phy=_TEXT,
            l=_TEXT,
            lp=_TEXT,
            r=_TEXT,
            rp=_TEXT,
        ),
        _relation("fn_phyop", e=_TEXT, p=_TEXT, phy=_TEXT),
        _relation("fn_scansummary", e=_TEXT, p=_TEXT, md=_INT),
        _relation("fn_nonscansummary", e=_TEXT, p=_TEXT, i=_INT, md=_INT),
        _relation("scan_cost", e=_TEXT, p=_TEXT, phy=_TEXT, c=_INT),
        _relation("local_cost", e=_TEXT, p=_TEXT, i=_INT, phy=_TEXT, c=_INT),
    ]
)


@cache
def program() -> list[Compiled]:
    """Compile the rules."""
    text = (Path(__file__).parent / "rules.overlog").read_text(encoding="utf-8")
    return compile_program(text, CATALOG)


def q3s() -> Tables:
    """Returns TPC-H Q3S with the costs of the paper's Fig. 3 and Table 1, in hundredths."""
    split = {
        ("COL", "-", 1, "join", "sort-merge", "C", "custkey", "OL", "custkey"),
        ("COL", "-", 2, "join", "index-nested-loop", "L", "orderkey", "CO", "-"),
        ("OL", "custkey", 1, "join", "pipelined-hash", "O", "-", "L", "-"),
        ("CO", "-", 1, "join", "pipelined-hash", "C", "-", "O", "-"),
        ("CO", "-", 2, "join", "sort-merge", "C", "custkey", "O", "custkey"),
    }
    scans = {
        ("C", "-", "scan", 4),
        ("C", "custkey", "index-scan", 4),
        ("O", "-", "scan", 19),
        ("O", "custkey", "index-scan", 19),
        ("L", "-", "scan", 68),
        ("L", "orderkey", "index-scan", 68),
    }
    local = {
        ("COL", "-", 1, "sort-merge", 3),
        ("COL", "-", 2, "index-nested-loop", 3),
        ("OL", "custkey", 1, "pipelined-hash", 6),
        ("CO", "-", 1, "pipelined-hash", 7),
        ("CO", "-", 2, "sort-merge", 9),
    }
    rows = {"C": 30, "O": 150, "L": 600}
    return {
        "goal": {("COL", "-")},
        "isleaf": {(e, len(e) == 1) for e in ("C", "O", "L", "OL", "CO", "COL")},
        "fn_split": split,
        "fn_phyop": {scan[:3] for scan in scans},
        "fn_scansummary": {(e, p, rows[e]) for e, p, *_ in scans},
        "fn_nonscansummary": {(*row[:3], 100 * row[2]) for row in split},
        "scan_cost": scans,
        "local_cost": local,
    }


def clique(relations: str) -> Tables:
    """Returns a join of relations in which each pair may be joined, with every bushy plan."""
    whole = "".join(sorted(relations))
    every = ["".join(e) for n in range(1, len(whole) + 1) for e in combinations(whole, n)]
    split = {
        (e, "-", number, "join", phy, left, "-", right, "-")
        for e in every
        for number, (left, right) in enumerate(_halves(e), start=1)
        for phy in ("hash", "merge")
    }
    scans = {(e, "-", "scan", 10 + ord(e) % 7) for e in whole}
    return {
        "goal": {(whole, "-")},
        "isleaf": {(e, len(e) == 1) for e in every},
        "fn_split": split,
        "fn_phyop": {scan[:3] for scan in scans},
        "fn_scansummary": {(e, "-", 10) for e in whole},
        "fn_nonscansummary": {(*row[:3], len(row[0])) for row in split},
        "scan_cost": scans,
        "local_cost": {(*row[:3], row[4], len(row[0]) + row[2] % 5) for row in split},
    }


def _halves(e: str) -> Iterator[tuple[str, str]]:
    for size in range(1, len(e)):
        for left in combinations(e, size):
            right = "".join(c for c in e if c not in left)
            yield "".join(left), right


def optimize(tables: Tables) -> dict[str, set[tuple]]:
    """Optimize from scratch, top down with a memo: what the four predicates must hold."""
    space: set[tuple] = set()
    waiting = list(tables["goal"])
    seen: set[Node] = set()
    leaf = dict(tables["isleaf"])
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        found = {row for row in tables["fn_split"] if row[:2] == node}
        if leaf.get(node[0], False):
            phys = {row[2] for row in tables["fn_phyop"] if row[:2] == node}
            found = {(*node, 0, "scan", phy, NONE, NONE, NONE, NONE) for phy in phys}
        space |= found
        waiting += [child for row in found for child in (row[5:7], row[7:9]) if child[0] != NONE]
    plans: set[tuple] = set()
    best: dict[Node, int] = {}

    @cache
    def cost(node: Node) -> int | None:
        for row in (row for row in space if row[:2] == node):
            children = [child for child in (row[5:7], row[7:9]) if child[0] != NONE]
            below = [cost(child) for child in children]
            own = "local_cost" if children else "scan_cost"
            key = (*row[:3], row[4]) if children else (*row[:2], row[4])
            sizes = tables["fn_nonscansummary"] if children else tables["fn_scansummary"]
            if None in below:
                continue
            for size in (r[-1] for r in sizes if r[:-1] == (row[:3] if children else row[:2])):
                for local in (r[-1] for r in tables[own] if r[:-1] == key):
                    total = local + sum(c for c in below if c is not None)
                    plans.add((*row, size, total))
                    best[node] = min(total, best.get(node, total))
        return best.get(node)

    for node in seen:
        cost(node)
    return {
        "search_space": space,
        "plan_cost": plans,
        "best_cost": {(*node, total) for node, total in best.items()},
        "best_plan": {plan for plan in plans if best[plan[:2]] == plan[-1]},
    }
