"""Pieces: sampled parts, their joins and their aggregates as fragments for the motes.

    σ(s) ⋈ σ(l), of which the query reads s.mid, l.lux
        → plan      Project mid, sid, lux (Join (Filter (Scan a0)) (Scan a1))      for the motes
        → replaces  Project s.mid, l.sid, l.lux (Join (Filter (Window …)) (Window …))
        → Ship(replaces), which `split` turns into a scan of the fragment's relation

Law: `replaces` has the rows of the parts' join, cut to the columns that are read and those that
tell devices apart; `plan` has them over the samples of an epoch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

from aspen.algebra.explain import plan_text
from aspen.algebra.expr import Col, Expr, Op, columns_in, substitute
from aspen.algebra.joined import joined
from aspen.algebra.plan import MERGEABLE, AggregateFunction, Filter, GroupBy, Plan, Project, Scan
from aspen.algebra.renaming import bare_names, narrowed
from aspen.effort import spend
from aspen.model.schema import Column, Relation
from aspen.motes.protocol import LEAST_PERIOD_S
from federation.estimate import Estimate, estimate
from federation.fragment import NetworkFragment
from federation.sampled import Sampled, unknown_to
from federation.sites import SensorSite, simple
from federation.statistics import Statistics

PERIODS_S = (LEAST_PERIOD_S, 10.0, 15.0, 20.0, 30.0, 60.0)
"""Few, so that a rate that wavers does not make another fragment of an equal one."""
USUAL_PERIOD_S = 10.0  # own choice where nobody counted the devices
DIGEST_BYTES = 5
_STEPS = 2_000  # what pricing takes, in the steps of `aspen.effort`
LEAST_KEYS = 8  # own choice: room for a few keys more than there were


@dataclass(frozen=True)
class Piece:
    """A fragment with what it is expected to cost."""

    fragment: NetworkFragment
    estimate: Estimate


def period_s(parts: Iterable[Sampled], statistics: Statistics) -> float:
    """Choose the time between epochs: no device is heard less often than by its own period."""
    wanted = []
    for part in parts:
        counted = statistics.rows(part.scan.relation)
        rate_hz = statistics.rate_hz(part.scan.relation)
        wanted.append(counted / rate_hz if counted and rate_hz else USUAL_PERIOD_S)
        if part.window.range_s is not None:
            wanted.append(part.window.range_s)
    return max(one for one in PERIODS_S if one <= max(min(wanted), LEAST_PERIOD_S))


@dataclass(frozen=True)
class PartJoin:
    """Parts that join inside the network.

    Args:
        parts: in the order of the fragment's inputs.
        pairs: equalities among them.
        where: other conditions over several of them, which motes can check.
    """

    parts: tuple[Sampled, ...]
    pairs: tuple[tuple[str, str], ...] = ()
    where: tuple[Expr, ...] = ()

    @property
    def columns(self) -> tuple[Column, ...]:
        """All parts' columns."""
        return tuple(column for part in self.parts for column in part.kept.columns)


def missing(meeting: PartJoin, needed: Iterable[str], network: SensorSite) -> str:
    """Say which of the columns that are read no answer carries; empty if all are carried."""
    lost = []
    for part in meeting.parts:
        unknown = unknown_to(part.scan, network)
        for name in needed:
            value = part.columns.get(name)
            if value is not None and (columns_in(value) & unknown or not simple(value)):
                lost.append(name)
    return f"motes' answers carry no {', '.join(sorted(lost))}" if lost else ""


def keyless(meeting: PartJoin) -> str:
    """Say which part's rows may be alike for two devices; empty if none's may."""
    found = [part.scan.alias for part in meeting.parts if not part.keys]
    return f"{found[0]}'s rows do not say which device they are of" if found else ""


def joined_fragment(
    meeting: PartJoin, needed: Iterable[str], statistics: Statistics, method: str = "base"
) -> Piece:
    """Make a fragment of one part or several."""
    wanted = {*needed, *(key for part in meeting.parts for key in part.keys)}
    outputs = tuple(column for column in meeting.columns if column.name in wanted)
    values = {name: value for part in meeting.parts for name, value in part.columns.items()}
    every_s = period_s(meeting.parts, statistics)
    spelt = _spelt(meeting.parts)
    answers = _plain(outputs)
    plan = Project(
        _tree([_samples(part, spelt) for part in meeting.parts], meeting, values, spelt),
        tuple(
            (answer, substitute(values[column.name], spelt))
            for answer, column in zip(answers, outputs, strict=True)
        ),
    )
    keeping = {name: Col(name) for name in values}
    replaces = _tree([part.kept for part in meeting.parts], meeting, keeping, {})
    return _piece(plan, answers, narrowed(replaces, outputs), every_s, method, statistics)


def grouped_fragment(node: GroupBy, part: Sampled, statistics: Statistics) -> Piece:
    """Make a fragment of an aggregate over one part."""
    spelt = _spelt((part,))
    below: Plan = _samples(part, spelt)
    read = [*node.keys, *(name for one in node.aggregates for name in one.reads)]
    inner = {name: f"a0.g{index}" for index, name in enumerate(dict.fromkeys(read))}
    types = {column.name: column for column in node.child.columns}
    below = Project(
        below,
        tuple(
            (replace(types[name], name=short), substitute(part.columns[name], spelt))
            for name, short in inner.items()
        ),
    )
    answers = _plain(node.columns)
    count = len(node.keys)
    aggregates = tuple(
        replace(
            one,
            argument=None if one.argument is None else inner[one.argument],
            output=answer,
        )
        for one, answer in zip(node.aggregates, answers[count:], strict=True)
    )
    grouped = GroupBy(below, tuple(inner[key] for key in node.keys), aggregates)
    sources = [*(inner[key] for key in node.keys), *(one.output.name for one in aggregates)]
    plan = Project(grouped, tuple((a, Col(name)) for a, name in zip(answers, sources, strict=True)))
    every_s = period_s((part,), statistics)
    replaces = replace(node, child=part.kept)
    return _piece(plan, answers, replaces, every_s, "base", statistics)


def grouping_refusal(node: GroupBy, part: Sampled, network: SensorSite) -> str:
    """Say why an aggregate cannot be computed in the tree; empty if it can."""
    types = {column.name: column.type for column in node.child.columns}
    for one in node.aggregates:
        if one.distinct:
            return "COUNT DISTINCT keeps every value: not in the tree"
        if one.function not in MERGEABLE:
            return f"{one.function.value} keeps every value: not in the tree"
        numbers = one.function is not AggregateFunction.COUNT
        if one.argument is not None and numbers and not types[one.argument].numeric:
            return f"motes compute {one.function.value} of numbers only"
    if part.rest:
        return "motes compute comparisons and plain arithmetic, no functions"
    read = {*node.keys, *(name for one in node.aggregates for name in one.reads)}
    return missing(PartJoin((part,)), read, network)


def _piece(
    plan: Plan,
    answers: tuple[Column, ...],
    replaces: Plan,
    every_s: float,
    method: str,
    statistics: Statistics,
) -> Piece:
    spend(_STEPS, "a fragment's price")
    found = estimate(plan, every_s, method, statistics)
    spelt = f"{plan_text(plan)}|{every_s:g}|{method}"
    name = f"net_{blake2b(spelt.encode(), digest_size=DIGEST_BYTES).hexdigest()}"
    comment = f"What the sensor network answers every {every_s:g} s."
    fragment = NetworkFragment(
        name,
        Relation(name, answers, comment=comment),
        plan,
        replaces,
        every_s,
        method,
        max(LEAST_KEYS, found.keys),
        tuple(one.value for one in found.shares),
        found.joined.value,
    )
    return Piece(fragment, found)


def _spelt(parts: Sequence[Sampled]) -> dict[str, Expr]:
    """Rename every scan's columns to the fragment's own aliases."""
    return {
        column.name: Col(_inner(index, column))
        for index, part in enumerate(parts)
        for column in part.scan.columns
    }


def _inner(index: int, column: Column) -> str:
    return f"a{index}.{column.name.rpartition('.')[2]}"


def _samples(part: Sampled, spelt: Mapping[str, Expr]) -> Plan:
    """Returns a part over samples: its selections over its scan, under the fragment's names."""
    names = [spelt[column.name] for column in part.scan.columns]
    columns = tuple(
        replace(column, name=name.name)
        for column, name in zip(part.scan.columns, names, strict=True)
        if isinstance(name, Col)
    )
    alias = columns[0].name.partition(".")[0]
    scan: Plan = Scan(part.scan.relation, alias, columns, part.scan.deletable, stream=True)
    return scan if part.own is None else Filter(scan, substitute(part.own, spelt))


def _tree(
    inputs: Sequence[Plan], meeting: PartJoin, values: Mapping[str, Expr], names: Mapping[str, Expr]
) -> Plan:
    """Joins inputs on a meeting's conditions, under the inputs' names."""
    pairs = [Op("=", Col(one), Col(other)) for one, other in meeting.pairs]
    conditions = [*pairs, *meeting.where]
    return joined(inputs, (substitute(substitute(one, values), names) for one in conditions))


def _plain(columns: Sequence[Column]) -> tuple[Column, ...]:
    names = bare_names(columns)
    return tuple(replace(c, name=name) for c, name in zip(columns, names, strict=True))
