"""From a plan to problems: groups of joins, their relations, and what brings them to the engine.

What is not a join ends a group and is one relation of it: a scan with its window and selections,
or whatever else stands there, which is at home in the engine. Device streams leave the motes by
accesses alone: as measured, or as answers of a fragment.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from aspen.algebra.block import block_of, equal_classes
from aspen.algebra.expr import Col, Expr, Op, columns_in, substitute
from aspen.algebra.plan import Filter, Join, Plan, Project, Scan, Window
from federation.cost import Weights
from federation.search.problem import NAME, Access, JoinProblem, Member, Theta
from federation.statistics import Statistics

UNKNOWN_ROWS = 1_000.0  # own guess for a relation nobody counted
PAIR = 2


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

    @cached_property
    def owner(self) -> dict[str, str]:
        """The alias of the part that each column is of."""
        return {
            column.name: alias for alias, (part, _) in self.parts.items() for column in part.columns
        }

    @cached_property
    def equal_columns(self) -> list[tuple[str, ...]]:
        """The columns that must be equal, in classes, in the order of the parts."""
        order = {name: index for index, name in enumerate(self.owner)}
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
    group: JoinGroup, statistics: Statistics, weights: Weights, accesses: Sequence[Access]
) -> JoinProblem:
    """Returns the search problem of a group.

    Args:
        accesses: at least one for each device stream.
    """
    owner = group.owner
    bottoms = {alias: _chain(part)[0] for alias, (part, _) in group.parts.items()}
    streams = {a: scan.relation for a, scan in bottoms.items() if isinstance(scan, Scan)}
    thetas = []
    for one in group.conditions:
        between = sorted({owner[name] for name in columns_in(one)})
        share = statistics.kept(one, streams).value
        if len(between) == PAIR and share > 0:  # other predicates are no edges
            thetas.append(Theta(between[0], between[1], share))
    brought = {alias for access in accesses for alias in access.aliases}
    members = (_member(part, alias, statistics) for alias, (part, _) in group.parts.items())
    return JoinProblem(
        tuple(replace(one, comes=one.alias in brought) for one in members),
        tuple(frozenset(owner[name] for name in names) for names in group.equal_columns),
        tuple(thetas),
        weights,
        tuple(accesses),
    )


def _chain(part: Plan) -> list[Plan]:
    """Returns the selections, projections and windows of a part, upwards from what is below."""
    chain = [part]
    while isinstance(chain[-1], Filter | Project | Window):
        chain.append(chain[-1].child)
    return chain[::-1]


def _member(part: Plan, alias: str, statistics: Statistics) -> Member:
    scan, *above = _chain(part)
    if not isinstance(scan, Scan):
        return Member(alias, UNKNOWN_ROWS, 1.0)
    counted = statistics.rows(scan.relation)
    rate_hz = statistics.rate_hz(scan.relation) if scan.stream else 0.0
    member = Member(alias, UNKNOWN_ROWS if counted is None else counted, rate_hz)
    for node in above:
        member = _narrowed(member, node, scan, statistics)
    return replace(member, rows=max(1.0, member.rows))


def _narrowed(member: Member, node: Plan, scan: Scan, statistics: Statistics) -> Member:
    match node:
        case Filter(_, predicate):
            kept = statistics.kept(predicate, {scan.alias: scan.relation}).value
            return replace(member, rows=member.rows * kept, rate_hz=member.rate_hz * kept)
        case Window(_, partition_by):
            held, newest = [], node.rows
            if newest is not None:
                held.append(newest * (member.rows if partition_by else 1.0))
            held += [
                member.rate_hz * span_s
                for span_s in (node.range_s, node.session_s)
                if span_s is not None
            ]
            return replace(member, rows=min(held))
        case _:
            return member
