"""Accesses: the ways in which a region's device streams may reach the engine.

Law: over all data, every fetch has the rows of the parts it stands for, joined and cut to what is
read of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from aspen.algebra.explain import expr_text
from aspen.algebra.expr import Col, Expr, Op, columns_in
from aspen.algebra.plan import Plan, Ship, with_children
from aspen.algebra.renaming import filtered
from federation.cost import Cost
from federation.pieces import PartJoin, Piece, joined_fragment, keyless, missing
from federation.sampled import Sampled, unknown_to
from federation.search.from_plan import JoinGroup
from federation.search.problem import Access
from federation.sites import SensorSite, simple
from federation.statistics import Statistics

PAIR = 2
MOST_INPUTS = 4  # own choice: groups of partners multiply with every input


@dataclass(frozen=True)
class Fetch(Access):
    """One way to bring parts of a region to the engine.

    Args:
        piece: what runs in the network at epochs; None for rows as they are measured.
        rest: conditions the engine checks behind the border.
        above: a node the engine runs on it, for it to stand for the part.
        done: conditions of the group that are fulfilled in it.
    """

    piece: Piece | None = None
    rest: tuple[Expr, ...] = ()
    above: Plan | None = None
    done: tuple[Expr, ...] = ()

    def plan(self, source: str, target: str) -> Plan:
        """Returns what stands in the federated plan; of rows as measured, nothing."""
        assert self.piece is not None
        shipped = filtered(Ship(self.piece.fragment.replaces, source, target), self.rest)
        return shipped if self.above is None else with_children(self.above, (shipped,))


def measured_fetch(alias: str, stream: str, cost: Cost) -> Fetch:
    """Bring a stream's rows as they are measured."""
    return Fetch(f"{stream} as measured", (alias,), cost)


def selected_fetch(
    alias: str,
    part: Plan,
    needed: frozenset[str],
    found: Sampled,
    statistics: Statistics,
    network: SensorSite,
) -> Fetch | str:
    """Bring a part's rows at epochs, selected by the motes; or say why not."""
    if found.own is None:
        return "no selection is left for the motes to make at epochs"
    own = {column.name for column in part.columns}
    read = (needed & own).union(*map(columns_in, found.rest))
    meeting = PartJoin((found,))
    refusal = keyless(meeting) or missing(meeting, read, network)
    if refusal:
        return refusal
    piece = joined_fragment(meeting, read, statistics)
    name = f"select {found.scan.alias} at epochs"
    return Fetch(name, (alias,), piece.estimate.cost, piece, found.rest)


def joined_fetches(
    group: JoinGroup,
    parts: Mapping[str, Sampled],
    needed: frozenset[str],
    statistics: Statistics,
    network: SensorSite,
) -> tuple[list[Fetch], tuple[tuple[str, str], ...]]:
    """Bring several parts joined in the network, in every way motes know.

    Returns:
        The ways, and what cannot be joined there, with why.
    """
    most = MOST_INPUTS if network.joins is None else min(MOST_INPUTS, network.joins + 1)
    found: list[Fetch] = []
    refused: list[tuple[str, str]] = []
    for size in range(PAIR, len(parts) + 1):
        for aliases in combinations(sorted(parts), size):
            name = f"join {', '.join(aliases)}"
            order = _order(group, aliases, parts)
            if not order:
                continue
            if size > most:
                refused.append((name, f"a fragment may hold {most - 1} joins"))
                continue
            meeting, done = _meeting(order, group, parts, network)
            read = _read(group, aliases, parts, needed, done)
            refusal = keyless(meeting) or missing(meeting, read, network)
            if refusal:
                refused.append((name, refusal))
                continue
            found += _ways(name, aliases, meeting, read, done, statistics)
    return found, tuple(refused)


def _ways(
    name: str,
    aliases: tuple[str, ...],
    meeting: PartJoin,
    read: frozenset[str],
    done: tuple[Expr, ...],
    statistics: Statistics,
) -> Iterator[Fetch]:
    rest = tuple(one for part in meeting.parts for one in part.rest)
    turned = [meeting]
    if len(meeting.parts) == PAIR:
        turned.append(PartJoin(meeting.parts[::-1], meeting.pairs, meeting.where))
    for method in ("pairwise", "semi", "bloom", "base"):
        keyed = method in ("semi", "bloom")
        if keyed and not (len(turned) == PAIR and _compares_columns(meeting)):
            continue
        for one in turned if keyed else turned[:1]:
            piece = joined_fragment(one, read, statistics, method)
            first = one.parts[0].scan.alias
            how = {
                "pairwise": "pairwise, where partners meet",
                "base": "at the base station",
            }.get(method, f"by {method}-join, keys of {first}")
            yield Fetch(f"{name} {how}", aliases, piece.estimate.cost, piece, rest, None, done)


def _compares_columns(meeting: PartJoin) -> bool:
    values = {name: value for part in meeting.parts for name, value in part.columns.items()}
    names = [name for pair in meeting.pairs for name in pair]
    return all(isinstance(values[name], Col) for name in names)


def _order(group: JoinGroup, aliases: Sequence[str], parts: Mapping[str, Sampled]) -> list[str]:
    """Put parts in an order in which each equals one before it; empty if there is none."""
    owner = {name: alias for alias in aliases for name in parts[alias].columns}

    def text(alias: str) -> tuple[str, str, str]:
        part = parts[alias]
        own = "" if part.own is None else expr_text(part.own).replace(f"{part.scan.alias}.", "")
        return part.scan.relation, own, alias

    waiting = sorted(aliases, key=text)
    order = [waiting.pop(0)]
    while waiting:
        near = next(
            (
                one
                for one in waiting
                for names in group.equal_columns
                if {owner.get(name) for name in names} >= {one}
                and {owner.get(name) for name in names} & {*order}
            ),
            None,
        )
        if near is None:
            return []
        waiting.remove(near)
        order.append(near)
    return order


def _meeting(
    order: Sequence[str],
    group: JoinGroup,
    parts: Mapping[str, Sampled],
    network: SensorSite,
) -> tuple[PartJoin, tuple[Expr, ...]]:
    """Returns what is joined, and the group's other conditions that it fulfils."""
    owner = {name: alias for alias in order for name in parts[alias].columns}
    unknown = frozenset[str]().union(*(unknown_to(parts[alias].scan, network) for alias in order))
    pairs: list[tuple[str, str]] = []
    where: list[Expr] = []
    for names in group.equal_columns:
        held = sorted((n for n in names if n in owner), key=lambda n: order.index(owner[n]))
        for name in held[1:]:
            if owner[name] == owner[held[0]]:
                if len({owner[n] for n in held}) > 1:
                    where.append(Op("=", Col(held[0]), Col(name)))
            else:
                pairs.append((held[0], name))
    done = tuple(
        one
        for one in group.conditions
        if columns_in(one)
        and columns_in(one) <= {*owner}
        and simple(one)
        and not {name for n in columns_in(one) for name in _under(parts[owner[n]], n)} & unknown
    )
    return PartJoin(tuple(parts[alias] for alias in order), tuple(pairs), (*where, *done)), done


def _under(part: Sampled, name: str) -> frozenset[str]:
    return columns_in(part.columns[name])


def _read(
    group: JoinGroup,
    aliases: Sequence[str],
    parts: Mapping[str, Sampled],
    needed: frozenset[str],
    done: Sequence[Expr],
) -> frozenset[str]:
    """Returns the parts' columns that are read behind the border."""
    own = {name for alias in aliases for name in parts[alias].columns}
    read = {*needed}
    for names in group.equal_columns:
        inside = [name for name in names if name in own]
        if len(inside) < len(names):
            owners = {alias for alias in aliases for n in inside if n in parts[alias].columns}
            read.update(inside[:1] if len(owners) > 1 else inside)
    for one in group.conditions:
        if one not in done:
            read |= columns_in(one)
    for alias in aliases:
        for one in parts[alias].rest:
            read |= columns_in(one)
    return frozenset(read & own)
