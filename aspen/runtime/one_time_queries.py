"""One-time queries: about rows of views, or for the rows of a plan; answers are views that pass.

    log       Ask a ── Tick +1 s ── … ── Tick +31 s        s: log time since the question
    results   why:a opens with its rows      closes        nothing in between: it is not maintained

An answer rests on what stands before its question in the log. It comes in the epoch of the question
or, where it is computed beside the lane, in a later one: no epoch waits for it.

Law: how the log is cut into batches and where the lane restarts does not show in what is folded.
     The rows of a plan are those a view of the same plan would hold if it were registered here.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import nullcontext
from functools import partial

from aspen.algebra.plan import Plan, relations_of
from aspen.algebra.read import read_plan
from aspen.errors import AspenError, as_aspen_error
from aspen.log.entry import EntryQuarantined, OneTimeKind, OneTimeQuery, Tick
from aspen.log.superstep import Step
from aspen.model.delta import Delta
from aspen.model.schema import Column, header_of
from aspen.results.protocol import ViewChange
from aspen.runtime.answering import Answering, Here
from aspen.runtime.answers import COLUMNS, answer_rows
from aspen.runtime.outcome import Outcome
from aspen.runtime.own_relations import LANE_RELATIONS
from aspen.runtime.provenance_queries import ProvenanceQueries
from aspen.runtime.question_time import QuestionTime
from aspen.runtime.views import Views
from aspen.views.budgets import Budget
from aspen.views.circuit import Circuit
from aspen.views.foresee import refuse_hopeless
from aspen.views.work import StateExceeded

KEPT_S = 30.0
ROWS_AT_MOST = 10_000
"""An answer is one message of the result store; what is larger is read in parts."""


class AnswerTooLarge(AspenError, code="aspen.runtime.answer_too_large"):
    """More rows than one answer may have."""


_LOST = EntryQuarantined(
    "the engine ended while it looked for the answer, so the question is left out",
    attempt="ask for less at once",
)
NO_MEMORY = StateExceeded(
    "the answer takes more memory than one question may",
    attempt="ask about fewer rows, or select before you join",
)


def answer_name(ask: str) -> str:
    """Returns the name of the transient view that answers a question."""
    return f"why:{ask}"


class OneTimeQueries:
    """The questions of one lane.

    `open` has when each was asked, in log time. `answering` computes the answers; those of `lost`
    were being computed when the lane's last process ended, and nobody computes them again.
    """

    def __init__(self, questions: ProvenanceQueries, views: Views, circuit: Circuit) -> None:
        self._questions = questions
        self._views = views
        self._circuit = circuit
        self._asked: dict[str, OneTimeQuery] = {}
        self.open: dict[str, float] = {}
        self.time = QuestionTime(circuit)
        self.here = Here(self.time.now_s)
        self.answering: Answering = self.here
        self.lost: set[str] = set()

    def names(self) -> list[str]:
        """Returns the transient views that somebody may be reading."""
        return [answer_name(ask) for ask in self.open]

    def begin(self, outcome: Outcome) -> None:
        """Begin an epoch with the answers that were found beside the last ones."""
        self.answering.epoch()
        self._tell(outcome)
        for ask in self.lost.intersection(self.open):
            self.lost.remove(ask)
            outcome.fail(answer_name(ask), _LOST.as_dict(), {})

    def answer(
        self,
        entry: OneTimeQuery,
        outcome: Outcome,
        latest_s: float,
        *,
        enough: bool = True,
        together: bool = False,
    ) -> None:
        """Answer a question, between two epochs; one that is open already is not asked again.

        Args:
            latest_s: the latest tick that is known to follow. An answer that it ends is not
                computed: a rebuild from an old log would answer all questions ever asked.
            enough: whether this lane has of the view what the answer rests on.
            together: whether all lanes say a part of the answer, so that it has to come at once.
        """
        if entry.ask in self.open:
            return
        self.open[entry.ask] = entry.at_s
        if latest_s > entry.at_s + KEPT_S:
            return
        error: AspenError | None = _LOST if entry.ask in self.lost else None
        self.lost.discard(entry.ask)
        try:
            if error is None:
                if entry.kind is OneTimeKind.ONCE:
                    plan = read_plan(entry.plan_text)
                    refuse_hopeless(plan, self._views.known, entry.most_steps)
                self.time.take(entry)
                self._asked[entry.ask] = entry
                answering = self.here if together else self.answering
                answering.begin(entry, partial(self._change, entry, enough=enough))
        except AspenError as refused:
            error = refused
            if self._asked.pop(entry.ask, None) is not None:
                self.time.give_back(entry, 0.0)
        if error is not None:
            outcome.fail(answer_name(entry.ask), error.as_dict(), {})
        self._tell(outcome)

    def _tell(self, outcome: Outcome) -> None:
        for ask, change, used_s in (*self.here.finished(), *self.answering.finished()):
            self.time.give_back(self._asked.pop(ask), used_s)
            if ask in self.open:
                outcome.take(change)
        for view, gone in self._questions.take_lost():
            outcome.fail(view.entry.view, view.error or {}, gone)

    def refuse(self, entry: OneTimeQuery, outcome: Outcome, error: AspenError) -> None:
        """Answer a question with an error."""
        if entry.ask not in self.open:
            self.open[entry.ask] = entry.at_s
            outcome.fail(answer_name(entry.ask), error.as_dict(), {})

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

    def _change(self, entry: OneTimeQuery, *, enough: bool) -> ViewChange:
        """Returns the answer, or why there is none."""
        name = answer_name(entry.ask)
        try:
            with nullcontext() if enough else self._views.completely(entry.view):
                columns, rows, since_s = self._found(entry)
            return ViewChange(name, rows, header_of(columns), complete_since_s=since_s)
        except MemoryError:
            pass  # what it holds has to be let go first: an error takes memory, too
        except Exception as error:  # noqa: BLE001 - no question may stop the lane
            return ViewChange(name, error=as_aspen_error(error).as_dict())
        return ViewChange(name, error=NO_MEMORY.as_dict())

    def _found(self, entry: OneTimeQuery) -> tuple[tuple[Column, ...], Delta, float | None]:
        budget = Budget("", entry.most_steps, entry.most_bytes, passing=True)
        with self._circuit.serving(budget, ask=self.time.limit(entry)):
            if entry.kind is not OneTimeKind.ONCE:
                return COLUMNS[entry.kind], answer_rows(self._questions, entry), None
            plan = read_plan(entry.plan_text)
            return plan.columns, *self._rows(plan, budget)

    def _rows(self, plan: Plan, budget: Budget) -> tuple[Delta, float | None]:
        rows, since_s = self._views.answer(plan)
        budget.check_held()
        count = sum(rows.values())
        if count > ROWS_AT_MOST:
            raise AnswerTooLarge(
                f"the answer has {count:,} rows",
                found=f"{count:,}",
                exists=[f"up to {ROWS_AT_MOST:,}"],
                attempt="add LIMIT, or a condition",
            )
        return rows, since_s

    def expire(self, now_s: float, outcome: Outcome, known: Collection[str]) -> None:
        """Close the answers to questions of more than 30 s ago.

        Args:
            known: views that were there before this batch.
        """
        for ask in [ask for ask, at_s in self.open.items() if now_s > at_s + KEPT_S]:
            del self.open[ask]
            if self._asked.pop(ask, None) is not None:
                self.answering.end(ask)
            outcome.close(answer_name(ask), known=answer_name(ask) in known)


def latest_tick_s(entries: Sequence[tuple[int, Step]], after: int) -> float:
    """Returns the time of the latest tick at a later position, minus infinity without one."""
    ticks = (e.at_s for position, e in entries if position > after and isinstance(e, Tick))
    return max(ticks, default=float("-inf"))
