"""Once: one-shot queries, answered over the rows there are and not maintained.

    log       … changes … ── Ask once ── … changes …
    answer                   as of here                no operator stays behind

Law:        the rows are those a view of the same plan would hold if it were registered here.
"""

from __future__ import annotations

from aspen.algebra.plan import relations_of
from aspen.algebra.read import read_plan
from aspen.errors import AspenError
from aspen.model.delta import Delta
from aspen.model.schema import Column
from aspen.runtime.own_relations import LANE_RELATIONS
from aspen.runtime.views import Views

ROWS_AT_MOST = 10_000
"""An answer is one message of the result store; what is larger is read in parts."""


class AnswerTooLarge(AspenError, code="aspen.runtime.answer_too_large"):
    """More rows than one answer may have."""


class Once:
    """The one-shot queries of one lane."""

    def __init__(self, views: Views) -> None:
        self._views = views

    def reads(self, text: str) -> frozenset[str]:
        """What a plan reads that lanes say of themselves; of one that cannot be read, none."""
        try:
            names = relations_of(read_plan(text))
        except AspenError:
            return frozenset()
        views = [self._views.by_name[name] for name in names if name in self._views.by_name]
        below = [relations_of(view.closed) for view in views if view.closed is not None]
        return LANE_RELATIONS & names.union(*below)

    def answer(self, text: str) -> tuple[tuple[Column, ...], Delta]:
        """Returns a plan's columns and the rows it has now.

        Raises:
            AnswerTooLarge: there are more than one answer may have.
            AspenError: it cannot be read or computed, or names what is not there.
        """
        plan = read_plan(text)
        rows = self._views.answer(plan)
        if sum(rows.values()) > ROWS_AT_MOST:
            raise AnswerTooLarge(
                f"the answer has {sum(rows.values()):,} rows",
                found=f"{sum(rows.values()):,}",
                exists=[f"up to {ROWS_AT_MOST:,}"],
                attempt="add LIMIT, or a condition",
            )
        columns = tuple(
            Column(c.name.split(".")[-1], c.type, c.unit, c.nullable) for c in plan.columns
        )
        return columns, rows
