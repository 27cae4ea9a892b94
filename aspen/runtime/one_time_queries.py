"""One-time queries: about rows of views, or for the rows of a plan; answers are views that pass.

    log       Ask a ── Tick +1 s ── … ── Tick +31 s        s: log time since the question
    results   why:a opens with its rows      closes        nothing in between: it is not maintained

Law: how the log is cut into batches and where the lane restarts does not show in what is folded.
     The rows of a plan are those a view of the same plan would hold if it were registered here.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from aspen.algebra.plan import relations_of
from aspen.algebra.read import read_plan
from aspen.errors import AspenError, as_aspen_error
from aspen.log.entry import OneTimeKind, OneTimeQuery, Tick
from aspen.log.superstep import Step
from aspen.model.delta import Delta
from aspen.model.schema import Column, header_of
from aspen.runtime.answers import COLUMNS, answer_rows
from aspen.runtime.outcome import Outcome
from aspen.runtime.own_relations import LANE_RELATIONS
from aspen.runtime.provenance_queries import ProvenanceQueries
from aspen.runtime.views import Views

KEPT_S = 30.0
ROWS_AT_MOST = 10_000
"""An answer is one message of the result store; what is larger is read in parts."""


class AnswerTooLarge(AspenError, code="aspen.runtime.answer_too_large"):
    """More rows than one answer may have."""


def answer_name(ask: str) -> str:
    """Returns the name of the transient view that answers a question."""
    return f"why:{ask}"


class OneTimeQueries:
    """The questions of one lane; `open` has when each was asked, in log time."""

    def __init__(self, questions: ProvenanceQueries, views: Views) -> None:
        self._questions = questions
        self._views = views
        self.open: dict[str, float] = {}

    def names(self) -> list[str]:
        """Returns the transient views that somebody may be reading."""
        return [answer_name(ask) for ask in self.open]

    def answer(self, entry: OneTimeQuery, outcome: Outcome, latest_s: float) -> None:
        """Answer a question, between two epochs; one that is open already is not asked again.

        Args:
            latest_s: the latest tick that follows in the same batch. An answer that it ends is
                not computed: a rebuild from an old log would answer all questions ever asked.
        """
        if entry.ask in self.open:
            return
        self.open[entry.ask] = entry.at_s
        if latest_s > entry.at_s + KEPT_S:
            return
        name = answer_name(entry.ask)
        try:
            columns, rows = self._found(entry)
            outcome.open(name, header_of(columns), rows)
        except Exception as error:  # noqa: BLE001 - no question may stop the lane
            outcome.fail(name, as_aspen_error(error).as_dict(), {})
        for view, gone in self._questions.take_lost():
            outcome.fail(view.entry.view, view.error or {}, gone)

    def reads(self, entry: OneTimeQuery) -> frozenset[str]:
        """Returns what a plan to be answered reads that lanes say of themselves."""
        if entry.kind is not OneTimeKind.ONCE or entry.ask in self.open:
            return frozenset()
        try:
            names = relations_of(read_plan(entry.plan_text))
        except AspenError:
            return frozenset()
        views = [self._views.by_name[name] for name in names if name in self._views.by_name]
        below = [relations_of(view.closed) for view in views if view.closed is not None]
        return LANE_RELATIONS & names.union(*below)

    def _found(self, entry: OneTimeQuery) -> tuple[tuple[Column, ...], Delta]:
        if entry.kind is not OneTimeKind.ONCE:
            return COLUMNS[entry.kind], answer_rows(self._questions, entry)
        plan = read_plan(entry.plan_text)
        rows = self._views.answer(plan, entry.most_steps)
        count = sum(rows.values())
        if count > ROWS_AT_MOST:
            raise AnswerTooLarge(
                f"the answer has {count:,} rows",
                found=f"{count:,}",
                exists=[f"up to {ROWS_AT_MOST:,}"],
                attempt="add LIMIT, or a condition",
            )
        return plan.columns, rows

    def expire(self, now_s: float, outcome: Outcome, known: Collection[str]) -> None:
        """Close the answers to questions of more than 30 s ago.

        Args:
            known: views that were there before this batch.
        """
        for ask in [ask for ask, at_s in self.open.items() if now_s > at_s + KEPT_S]:
            del self.open[ask]
            outcome.close(answer_name(ask), known=answer_name(ask) in known)


def latest_tick_s(entries: Sequence[tuple[int, Step]], after: int) -> float:
    """Returns the time of the latest tick at a later position, minus infinity without one."""
    ticks = (e.at_s for position, e in entries if position > after and isinstance(e, Tick))
    return max(ticks, default=float("-inf"))
