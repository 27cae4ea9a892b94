"""From a plan to problems: groups of joins, their relations, and what brings them to the engine.

What is not a join ends a group and is one relation of it: a scan with its window and selections,
or whatever else stands there, which is at home in the engine. Device streams leave the motes by
accesses alone: as measured, or as answers of a fragment.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from aspen.algebra.block import block_of, equal_classes
from aspen.algebra.expr import Col, Expr, Op, columns_in, substitute
from aspen.algebra.plan import Filter, Join, Plan, Project, Scan, Window
from aspen.model.catalog import Catalog
from aspen.motes.hardware import FRAME_BYTES
from federation.cost import Weights, row_bytes
from federation.search.problem import (
    NAME,
    Access,
    Attribute,
    Equality,
    Member,
    Problem,
    SearchSite,
    Theta,
)
from federation.statistics import Statistics

UNKNOWN_ROWS = 1_000.0  # own guess for a relation nobody counted
PAIR = 2

SITES = (
    # Own guesses of the time per row; ±50 %.
    SearchSite("sensors", 100.0, joins=0, battery=True, hashes=False),
    SearchSite("engine", 5.0),
)


@dataclass(frozen=True)
class JoinGroup:
    """A group of joins: a block whose columns have the plan's names.

    Args:
        parts: what is joined, by alias, from left to right; a plan and its path.
        equalities: pairs of columns the joins compare.
        conditions: all other conditions of the joins.
    """

    parts: dict[str, tuple[Plan, tuple[int, ...]]]
    equalities: tuple[tuple[str, str], ...] = ()
    conditions: tuple[Expr, ...] = ()

    def owner(self) -> dict[str, Attribute]:
        """Returns the relation and the column behind each column's name."""
        return {
            column.name: Attribute(alias, column.name.removeprefix(f"{alias}."))
            for alias, (part, _) in self.parts.items()
            for column in part.columns
        }

    @property
    def equal_columns(self) -> list[tuple[str, ...]]:
        """The columns that must be equal, in classes, in the order of the parts."""
        names = [column.name for part, _ in self.parts.values() for column in part.columns]
        order = {name: index for index, name in enumerate(names)}
        classes = equal_classes(self.equalities)
        found = [tuple(sorted(members, key=order.__getitem__)) for members in classes]
        return sorted(found, key=lambda members: order[members[0]])


def group_of(top: Plan, path: tuple[int, ...] = ()) -> JoinGroup:
    """Returns the joins from a node down to what is no join."""
    block = block_of(top, lambda node: not isinstance(node, Join))
    names = block.own_names
    equal, rest = [], []
    for condition in (substitute(one, names) for one in block.conditions):
        match condition:
            case Op("=", Col(one), Col(other)):
                equal.append((one, other))
            case _:
                rest.append(condition)
    parts = list(_parts(top, path))
    aliases = _aliases([part for part, _ in parts])
    return JoinGroup(dict(zip(aliases, parts, strict=True)), tuple(equal), tuple(rest))


def _parts(node: Plan, path: tuple[int, ...]) -> Iterator[tuple[Plan, tuple[int, ...]]]:
    if isinstance(node, Join):
        yield from _parts(node.left, (*path, 0))
        yield from _parts(node.right, (*path, 1))
    else:
        yield node, path


def _aliases(parts: Sequence[Plan]) -> list[str]:
    """Name parts after their columns' prefix where that is one word and nobody else's."""
    found: list[str] = []
    for number, part in enumerate(parts, start=1):
        prefixes = {column.name.rpartition(".")[0] for column in part.columns}
        own = prefixes.pop() if len(prefixes) == 1 else ""
        found.append(own if NAME.fullmatch(own) and own not in found else f"part{number}_")
    return found


def problem_of(
    group: JoinGroup,
    catalog: Catalog,
    statistics: Statistics,
    weights: Weights,
    accesses: Iterable[Access] = (),
) -> Problem:
    """Returns the search problem of a group.

    Args:
        accesses: at least one for each device stream.
    """
    members = tuple(
        _member(part, alias, catalog, statistics) for alias, (part, _) in group.parts.items()
    )
    owner = group.owner()
    streams = {
        alias: scan.relation
        for alias, (part, _) in group.parts.items()
        if isinstance(scan := _bottom(part), Scan)
    }
    thetas = [
        Theta(left, right, statistics.kept(one, streams).value)
        for one in group.conditions
        for left, right in _pair({owner[name].alias for name in columns_in(one)})
    ]
    brought = {alias for access in accesses for alias in access.aliases}
    return Problem(
        tuple(replace(one, home="engine") if one.alias not in brought else one for one in members),
        SITES,
        (),
        "engine",
        tuple(Equality(owner[one], owner[other]) for one, other in group.equalities),
        tuple(one for one in thetas if one.share > 0),
        weights,
        accesses=tuple(accesses),
    )


def _pair(aliases: set[str]) -> list[tuple[str, str]]:
    """Returns the two relations a predicate is between; other predicates are no edges."""
    return list(pairwise(sorted(aliases))) if len(aliases) == PAIR else []


def _bottom(part: Plan) -> Plan:
    while isinstance(part, Filter | Project | Window):
        part = part.child
    return part


def _member(part: Plan, alias: str, catalog: Catalog, statistics: Statistics) -> Member:
    chain = [part]
    while isinstance(chain[-1], Filter | Project | Window):
        chain.append(chain[-1].child)
    payload = max(1, row_bytes(part.columns) - FRAME_BYTES)
    scan = chain[-1]
    if not isinstance(scan, Scan):
        return Member(alias, "engine", UNKNOWN_ROWS, 1.0, payload)
    device = scan.stream and scan.relation in catalog and catalog.get(scan.relation).device
    counted = statistics.rows(scan.relation)
    rate_hz = statistics.rate_hz(scan.relation) if scan.stream else 0.0
    rows = UNKNOWN_ROWS if counted is None else counted
    member = Member(alias, "sensors" if device else "engine", rows, rate_hz, payload)
    for node in chain[-2::-1]:
        member = _narrowed(member, node, scan, statistics)
    return replace(member, rows=max(1.0, member.rows))


def _narrowed(member: Member, node: Plan, scan: Scan, statistics: Statistics) -> Member:
    match node:
        case Filter(_, predicate):
            kept = statistics.kept(predicate, {scan.alias: scan.relation}).value
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
