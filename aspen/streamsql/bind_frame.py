"""Frames of OVER: ROWS, RANGE and GROUPS, their bounds, and what EXCLUDE leaves out."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from sqlglot import exp

from aspen.algebra.expr import Const
from aspen.algebra.plan import SO_FAR, WHOLE, Exclusion, Frame, FrameUnit, PlanError
from aspen.algebra.times import SECONDS
from aspen.model.schema import Type
from aspen.streamsql.bind_expr import ExpressionBinder
from aspen.streamsql.errors import TypeMismatch
from aspen.streamsql.positions import whole
from aspen.streamsql.tree import constant, unsupported
from aspen.streamsql.typing_rules import Typed, meeting, spelt
from aspen.streamsql.typing_times import is_span


def bind_frame(spec: exp.Expr | None, keys: Sequence[Typed], binder: ExpressionBinder) -> Frame:
    """Returns the rows that count for each row.

    Args:
        spec: what stands behind the order; None for nothing.
        keys: what the rows are sorted by.
        binder: of the select list.

    Raises:
        PlanError: a frame that ends before it begins.
        TypeMismatch: a bound that does not fit what the rows are sorted by.
        UnitMismatch: a bound in another unit.
        Unsupported: a bound that is computed, or on the wrong side.
    """
    if spec is None:
        return SO_FAR if keys else WHOLE
    unit = FrameUnit[spec.args["kind"].upper()]
    said = spec.args.get("exclude")
    without = Exclusion[said.name.replace(" ", "_")] if said else Exclusion.NO_OTHERS

    def bound(end: str) -> float | None:
        offset, side = spec.args.get(end), str(spec.args.get(f"{end}_side")).upper()
        if offset in (None, "CURRENT ROW"):
            return 0
        before = side == "PRECEDING"
        if offset == "UNBOUNDED":
            if before is not (end == "start"):
                raise unsupported(f"a frame whose {end} is UNBOUNDED {side}", spec, "turn it round")
            return None
        by_value = unit is FrameUnit.RANGE
        distance = _difference(offset, keys, binder) if by_value else whole_number(offset, 0)
        return -distance if before else distance

    try:
        return Frame(unit, bound("start"), bound("end"), without)
    except PlanError as error:
        error.position = whole(spec)
        raise


def _difference(said: exp.Expr, keys: Sequence[Typed], binder: ExpressionBinder) -> float:
    """Returns by how much keys differ at a bound; times, in µs."""
    key = keys[0] if len(keys) == 1 else None
    if key is None or key.type is None or not (key.type.numeric or key.type.is_time):
        raise TypeMismatch(
            "RANGE with a bound needs one number or time in ORDER BY",
            position=whole(said),
            found=f"{len(keys)} keys" if key is None else spelt(key.type),
            exists=("ORDER BY a number", "ORDER BY a time"),
            attempt="ROWS 10 PRECEDING, or order by one number or time",
        )
    offset = binder.bind(said)
    number = offset.expr.value if isinstance(offset.expr, Const) else None
    if isinstance(number, bool) or not isinstance(number, int | float) or number < 0:
        raise unsupported(
            "this bound of RANGE", said, "RANGE 60 PRECEDING, RANGE INTERVAL 5 MINUTES PRECEDING"
        )
    if key.type.numeric:
        meeting(key, offset, "compare")
        found = Decimal(str(number)).scaleb((key.type.digits or (0, 0))[1])
        return int(found) if found == found.to_integral_value() else float(found)
    days = key.type is Type.DATE and offset.type is Type.INT
    if not days and not (offset.unit and is_span(offset)):
        raise TypeMismatch(
            f"a bound in {key.type.value} is a span of time",
            position=whole(said),
            found=said.sql(),
            exists=("INTERVAL",),
            attempt="RANGE INTERVAL 5 MINUTES PRECEDING",
        )
    return round(number * (SECONDS["day"] if days else 1) * 1_000_000)


def whole_number(tree: exp.Expr, least: int) -> int:
    """Returns a whole number that is written in the query.

    Raises:
        TypeMismatch: anything else, or a lesser one.
    """
    found = constant(tree)
    if found is None or type(found.value) is not int or found.value < least:
        raise TypeMismatch(
            f"a whole number from {least} on stands here",
            position=whole(tree),
            found=tree.sql(),
            exists=("INT",),
            attempt="write the number itself",
        )
    return found.value
