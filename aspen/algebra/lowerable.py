"""Lowerable: which selections over a stream can be made before its rows reach a lane.

    alarm     σ celsius > 60 ─ reading [RANGE 10 SECONDS]        a reading of 20 °C and "attic"
    attic     σ room = 'attic' ─ reading [ROWS 5]                reaches a lane, one of 20 °C and
    ─────────────────────────────────────────────────            "hall" would change nothing there
    lowered   celsius > 60 OR room = 'attic'

Law:        a row for which the lowered predicate is not true leaves no trace in any lane.
Guard:      every reader selects below its window; lanes remember nothing of the stream for windows
            to come: it is fast, and has no key; the predicate compares columns and
            constants of one type, which every engine does alike.
Source:     own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from aspen.algebra.block import NotABlock, block_of
from aspen.algebra.expr import (
    COMPARISONS,
    Col,
    Const,
    Expr,
    IsNull,
    Not,
    Op,
    chain,
    columns_in,
    conjunction,
    substitute,
)
from aspen.algebra.plan import Plan, Scan, Window, children, relations_of
from aspen.model.schema import Relation, SourceKind, Type

LOWER_FROM_HZ = 500_000.0
"""Declared rate from which on a stream's selections are made in Spark.

Below it a lane takes in and rejects readings more cheaply than Spark's JSON functions do.
"""

REMEMBERED_BELOW_HZ = 10_000.0
"""Declared rate below which lanes remember a stream's newest rows for windows to come."""

_EXACT = 1 << 53


@dataclass(frozen=True, slots=True)
class Lowered:
    """A selection to be made in front of the lanes.

    Args:
        relation: the stream.
        predicate: over its column names; a row for which it is not true is dropped.
    """

    relation: Relation
    predicate: Expr

    @property
    def reason(self) -> str:
        """Say why."""
        return (
            f"{self.relation.name} brings {self.relation.rate_hz:g} rows/s, more than one lane can "
            "take in, and all who read it select"
        )


def lowerable(
    plans: Iterable[Plan], relations: Mapping[str, Relation], from_hz: float = LOWER_FROM_HZ
) -> tuple[Lowered, ...]:
    """Returns what can be selected before the lanes.

    Args:
        plans: of all registered views; views they read are among them.
        relations: the declared ones.
        from_hz: streams of a lower declared rate are left alone.
    """
    every = list(plans)
    found: list[Lowered] = []
    for relation in relations.values():
        if reason_against(relation, every, from_hz) is None:
            wanted = dict.fromkeys(_selections(every, relation))
            predicates = [predicate for predicate in wanted if predicate is not None]
            found.append(Lowered(relation, chain("OR", predicates)))
    return tuple(found)


def reason_against(
    relation: Relation, plans: Iterable[Plan], from_hz: float = LOWER_FROM_HZ
) -> str | None:
    """Say why a stream's selections stay in the lanes, None when they are made in Spark."""
    if relation.kind is not SourceKind.STREAM:
        return f"{relation.name} is no stream"
    from_hz = max(from_hz, REMEMBERED_BELOW_HZ)
    if relation.rate_hz < from_hz:
        return (
            f"{relation.name} brings {relation.rate_hz:g} rows/s, and up to {from_hz:g} a lane "
            "rejects a row at less cost than Spark's JSON functions"
        )
    if relation.key:
        return f"lanes keep the newest row per {', '.join(relation.key)} of {relation.name}"
    wanted = list(_selections(plans, relation))
    if not wanted:
        return f"nobody reads {relation.name}"
    if None in wanted:
        return f"a view reads all rows of {relation.name}"
    types = {column.name: column.type for column in relation.columns}
    if not all(columns_in(one) and _plain(one, types) for one in wanted if one is not None):
        return f"a selection on {relation.name} computes more than comparisons"
    return None


def _selections(plans: Iterable[Plan], relation: Relation) -> Iterator[Expr | None]:
    """Returns, for each scan of a stream, what it selects below its window; None for all."""
    waiting = list(plans)
    while waiting:
        plan = waiting.pop()
        if relation.name not in relations_of(plan):
            continue
        if isinstance(plan, Window):
            yield _below(plan.child, relation)
        elif isinstance(plan, Scan):
            yield None
        else:
            waiting += children(plan)


def _below(plan: Plan, relation: Relation) -> Expr | None:
    """Returns the predicate of the selections between a window and its stream, over its columns."""
    try:
        block = block_of(plan)
    except NotABlock:
        return None
    if len(block.inputs) != 1 or not isinstance(block.inputs[0].plan, Scan):
        return None
    names: dict[str, Expr] = {
        name: Col(column.name)
        for name, column in zip(block.names(0), relation.columns, strict=True)
    }
    return conjunction(substitute(condition, names) for condition in block.conditions)


def _plain(expr: Expr, types: Mapping[str, Type]) -> bool:
    """Whether every engine computes an expression alike, nulls included."""
    match expr:
        case Op("AND" | "OR", left, right):
            return _plain(left, types) and _plain(right, types)
        case Not(inner):
            return _plain(inner, types)
        case IsNull(Col(name)):
            return name in types
        case Col(name):
            return types.get(name) is Type.BOOL
        case Op(symbol, left, right) if symbol in COMPARISONS:
            return _comparable(left, right, types)
        case _:
            return False


def _type(expr: Expr, types: Mapping[str, Type]) -> Type | None:
    match expr:
        case Col(name):
            kind = types.get(name)
            # The log may spell a time in other ways than rows do.
            return None if kind is None or kind.is_time else kind
        case Const(bool()):
            return Type.BOOL
        case Const(int() as value):
            return Type.INT if -_EXACT < value < _EXACT else None
        case Const(float()):
            return Type.FLOAT
        case Const(str()):
            return Type.TEXT
        case _:
            return None


def _comparable(left: Expr, right: Expr, types: Mapping[str, Type]) -> bool:
    """Whether two operands are of one type; a whole number in the text will do for a FLOAT."""
    one, other = _type(left, types), _type(right, types)
    if one is None or other is None:
        return False
    whole = {Type.FLOAT, Type.INT} == {one, other}
    constant = left if one is Type.INT else right
    return one is other or (whole and isinstance(constant, Const))
