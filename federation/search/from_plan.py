"""From a plan to problems: every group of two or more joins is one, over motes, base and engine.

What is not a join ends a group and is one relation of it: a scan with its window and selections,
or whatever else stands there, which is at home in the engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from aspen.algebra.explain import expr_text
from aspen.algebra.expr import Expr, columns_in, conjuncts
from aspen.algebra.plan import Filter, Fixpoint, Join, Plan, Project, Scan, Window, children
from aspen.model.catalog import Catalog
from federation.cost import FRAME_BYTES, HOPS, MICRO_BATCH_MS, Weights, row_bytes
from federation.search.problem import (
    MOST_MEMBERS,
    NAME,
    Attribute,
    Equality,
    Member,
    Metric,
    Problem,
    Route,
    Site,
    Theta,
)
from federation.statistics import Statistics, share

UNKNOWN_ROWS = 1_000.0  # own guess for a relation nobody counted
LEAST_JOINS = 2  # one join has one order
PAIR = 2

SITES = (
    # Own guesses of the time per row; ±50 %. Motes compare with every row of the other side.
    Site("sensors", 100.0, joins=1, battery=True, hashes=False, reduces=True),
    Site("base", 20.0, reduces=True),
    Site("engine", 5.0, sorts=True),
)
ROUTES = (
    Route("sensors", "base", HOPS),
    Route("base", "sensors", HOPS),
    Route("base", "engine", wired_ms=MICRO_BATCH_MS),
    Route("engine", "base", wired_ms=1.0),  # own guess: a local network
    Route("sensors", "engine", HOPS, MICRO_BATCH_MS),
    Route("engine", "sensors", HOPS, 1.0),
)


def problems(
    plan: Plan, catalog: Catalog, statistics: Statistics, weights: Weights
) -> Iterator[Problem]:
    """Give the join problems of a plan, from the root down; groups of one join have no choice.

    Recursions are left alone: what they read changes with what they find.
    """
    waiting = [plan]
    while waiting:
        node = waiting.pop()
        parts, joins = _group(node)
        if LEAST_JOINS <= len(joins) < MOST_MEMBERS:
            yield _problem(parts, joins, catalog, statistics, weights)
        inner = [part for part in parts if not isinstance(part, Fixpoint)]
        waiting += [child for part in inner for child in children(part)][::-1]


def _group(top: Plan) -> tuple[list[Plan], list[Join]]:
    parts: list[Plan] = []
    joins: list[Join] = []
    waiting = [top]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Join):
            joins.append(node)
            waiting += [node.right, node.left]
        else:
            parts.append(node)
    return parts, joins


def _problem(
    parts: list[Plan],
    joins: list[Join],
    catalog: Catalog,
    statistics: Statistics,
    weights: Weights,
) -> Problem:
    members = tuple(
        _member(part, f"part{number}_", catalog, statistics)
        for number, part in enumerate(parts, start=1)
    )
    owner = {
        column.name: Attribute(member.alias, column.name.removeprefix(f"{member.alias}."))
        for member, part in zip(members, parts, strict=True)
        for column in part.columns
    }
    equalities = [Equality(owner[one], owner[other]) for join in joins for one, other in join.on]
    thetas = [
        Theta(left, right, _kept(part, statistics))
        for join in joins
        for part in conjuncts(join.residual)
        for left, right in _pair({owner[name].alias for name in columns_in(part)})
    ]
    return Problem(
        members,
        SITES,
        ROUTES,
        "engine",
        tuple(equalities),
        tuple(one for one in thetas if one.share > 0),
        Metric(weights),
    )


def _pair(aliases: set[str]) -> list[tuple[str, str]]:
    """Give the two relations a predicate is between; other predicates are no edges."""
    return list(pairwise(sorted(aliases))) if len(aliases) == PAIR else []


def _kept(predicate: Expr, statistics: Statistics) -> float:
    return min(1.0, statistics.shares.get(expr_text(predicate), share(predicate)))


def _member(part: Plan, name: str, catalog: Catalog, statistics: Statistics) -> Member:
    chain = [part]
    while isinstance(chain[-1], Filter | Project | Window):
        chain.append(chain[-1].child)
    payload = max(1, row_bytes(part.columns) - FRAME_BYTES)
    scan = chain[-1]
    if not isinstance(scan, Scan):
        return Member(name, "engine", UNKNOWN_ROWS, 1.0, payload)
    device = scan.stream and scan.relation in catalog and catalog.get(scan.relation).device
    counted = statistics.rows(scan.relation)
    rate_hz = statistics.rate_hz(scan.relation) if scan.stream else 0.0
    rows = UNKNOWN_ROWS if counted is None else counted
    alias = scan.alias if NAME.fullmatch(scan.alias) else name
    member = Member(alias, "sensors" if device else "engine", rows, rate_hz, payload)
    for node in chain[-2::-1]:
        member = _narrowed(member, node, statistics)
    return replace(member, rows=max(1.0, member.rows))


def _narrowed(member: Member, node: Plan, statistics: Statistics) -> Member:
    match node:
        case Filter(_, predicate):
            kept = _kept(predicate, statistics)
            return replace(member, rows=member.rows * kept, rate_hz=member.rate_hz * kept)
        case Window(_, partition_by, newest, range_s):
            held = []
            if newest is not None:
                held.append(newest * (member.rows if partition_by else 1.0))
            if range_s is not None:
                held.append(member.rate_hz * range_s)
            return replace(member, rows=min(held))
        case _:
            return member
