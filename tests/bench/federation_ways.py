"""Ways: every sound way of bench `federation` to run a query, as pieces for the network.

    raw        every stream whole to the base        pairwise, semi, bloom   join in the network
    selected   selections on motes, rows to the base     l first     keys go the other way
    base       the same, with only the columns needed    … + t       two joined, the third beside
    tree       the aggregate in the collection tree

What the pieces leave to do, the engine does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from aspen.algebra.explain import plan_text
from aspen.algebra.expr import Col, columns_in
from aspen.algebra.plan import (
    Filter,
    GroupBy,
    Join,
    Plan,
    Project,
    Scan,
    Window,
    children,
    with_children,
)
from aspen.model.schema import Column
from aspen.streamsql import compile_query
from federation.cost import Weights
from federation.placement import assign_sites
from federation.split import split
from federation.statistics import Statistics
from sensors_sim.innet.program import Method
from tests.bench.federation_field import CATALOG, Asked

AT_BASE = ("raw", "selected", "base")


@dataclass(frozen=True, slots=True)
class Piece:
    """One fragment of a way."""

    plan: Plan
    method: Method = Method.BASE

    @property
    def text(self) -> str:
        """Name it: equal pieces of several ways run once."""
        return f"{self.method.name} {plan_text(self.plan)}"


@dataclass(frozen=True, slots=True)
class Way:
    """A way to run a query."""

    name: str
    pieces: tuple[Piece, ...]

    @property
    def one_site(self) -> bool:
        """Whether everything but the sampling happens at one site: base or network."""
        return " + " not in self.name


def planned(sql: str) -> Plan:
    """Returns the plan of a query over samples: a window of one row per sensor is the sample."""
    return sampled(compile_query(Asked.text(sql), CATALOG).plan)


def sampled(plan: Plan) -> Plan:
    """Returns a plan without its windows."""
    if isinstance(plan, Window):
        return sampled(plan.child)
    return with_children(plan, tuple(sampled(child) for child in children(plan)))


def ways(asked: Asked, *, turned: bool = True) -> list[Way]:
    """Returns every way to run a query.

    Args:
        turned: whether keys are sent from either side, or from the first alone.
    """
    plan = planned(asked.sql)
    sides = list(_sides(plan))
    scans = {side.relation: side for one in sides for side in _scans(one)}
    found = [Way("raw", tuple(Piece(scan) for scan in scans.values()))]
    rows = _distinct([Piece(side) for side in sides])
    if any(not isinstance(piece.plan, Scan) for piece in rows):
        found.append(Way("selected", rows))
    if any(isinstance(node, GroupBy) for node in _nodes(plan)):
        return [*found, Way("tree", (Piece(plan),))]
    found += [Way("base", (Piece(plan),)), Way("pairwise", (Piece(plan, Method.PAIRWISE),))]
    if asked.turned:
        for label, one in (("", plan), (", l first", planned(asked.turned)))[: 1 + turned]:
            found += [
                Way(f"{method.name.lower()}{label}", (Piece(one, method),))
                for method in (Method.SEMI, Method.BLOOM)
            ]
    for join in _nodes(plan):
        if isinstance(join, Join) and isinstance(join.left, Join):
            rest = tuple(Piece(side) for side in _sides(join.right))
            inner = _needed(plan, join.left)
            found += [
                Way(f"{method.name.lower()} + {_alias(join.right)}", (Piece(inner, method), *rest))
                for method in (Method.PAIRWISE, Method.SEMI, Method.BLOOM)
            ]
    return found


def chosen(asked: Asked, known: Statistics) -> Way:
    """Ask the optimizer, which minimises energy."""
    plan = compile_query(Asked.text(asked.sql), CATALOG).plan
    found = split(assign_sites(plan, CATALOG, known, Weights(0.0, 1.0, 0.0)))
    network = [Piece(one.plan, Method[one.method.upper()]) for one in found.network]
    streamed = [Piece(one.plan) for one in found.sensors]
    names = [_label(one.plan, one.method) for one in found.network]
    names += [f"{one.stream} as measured" for one in found.sensors]
    return Way("chosen: " + " + ".join(names), (*network, *streamed))


def _label(plan: Plan, method: str) -> str:
    sources = ", ".join(scan.relation.removesuffix("_reading") for scan in _scans(plan))
    if any(isinstance(node, GroupBy) for node in _nodes(plan)):
        return f"tree of {sources}"
    joins = any(isinstance(node, Join) for node in _nodes(plan))
    return f"{method} of {sources}" if joins else f"selected {sources}"


def _needed(plan: Plan, inner: Plan) -> Plan:
    """Returns a part of a plan with the columns that the rest of the plan reads, and no more."""
    read: set[str] = set()
    for node in _nodes(plan):
        match node:
            case Project():
                read |= {name for _, value in node.outputs for name in columns_in(value)}
            case Join() if node != inner:
                read |= {name for pair in node.on for name in pair} | columns_in(node.residual)
    kept = [column for column in inner.columns if column.name in read]
    return Project(
        inner,
        tuple(
            (Column(c.name.replace(".", "_"), c.type, c.unit, c.nullable), Col(c.name))
            for c in kept
        ),
    )


def _distinct(pieces: list[Piece]) -> tuple[Piece, ...]:
    """Returns pieces once, whatever alias they read their stream by."""
    found: dict[str, Piece] = {}
    for piece in pieces:
        (scan,) = _scans(piece.plan)
        found.setdefault(
            piece.text.replace(f"{scan.alias}.", "").replace(f"as {scan.alias}", ""), piece
        )
    return tuple(found.values())


def _sides(plan: Plan) -> Iterator[Plan]:
    """Returns the inputs: scans with the selections over them."""
    if isinstance(plan, Scan) or (isinstance(plan, Filter) and isinstance(plan.child, Scan)):
        yield plan
        return
    for child in children(plan):
        yield from _sides(child)


def _scans(plan: Plan) -> Iterator[Scan]:
    return (node for node in _nodes(plan) if isinstance(node, Scan))


def _alias(plan: Plan) -> str:
    return next(_scans(plan)).alias


def _nodes(plan: Plan) -> Iterator[Plan]:
    yield plan
    for child in children(plan):
        yield from _nodes(child)
