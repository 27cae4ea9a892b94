"""Make a window: the operator that suits its clauses."""

from __future__ import annotations

from collections.abc import Callable

from aspen.algebra.plan import Window
from aspen.model.schema import Row
from aspen.views.node import Places
from aspen.views.operators.range_window import RangeWindow
from aspen.views.operators.sliding_window import SlidingWindow
from aspen.views.operators.window import WindowOperator


def make_window(
    stream: str, shape: Callable[[Row], Row | None], partition: Places, plan: Window
) -> WindowOperator:
    """Returns an empty window over a stream.

    Args:
        shape: what a stream row becomes before it enters, None where it does not.
        partition: places of the partition columns.
        plan: has the clauses.
    """
    if plan.slide_s is not None:
        return SlidingWindow(stream, shape, partition, plan.rows, plan.range_s, plan.slide_s)
    if plan.rows is None and plan.range_s is not None:
        return RangeWindow(stream, shape, plan.range_s)
    return WindowOperator(stream, shape, partition, plan.rows, plan.range_s)
