"""Lane state: what a lane is made of; base contents, registrations and what is derived of them."""

from __future__ import annotations

from collections.abc import Callable, Container

from aspen.algebra.lane_rows import CrossesLanes
from aspen.errors import AspenError
from aspen.log.superstep import Step, Superstep
from aspen.model.schema import Relation, SourceKind
from aspen.runtime.assignment import ALONE, Assignments, LaneShare
from aspen.runtime.completeness import Completeness
from aspen.runtime.intake import Intake
from aspen.runtime.interests import Interests
from aspen.runtime.kept_errors import KeptErrors
from aspen.runtime.lifetimes import Lifetimes
from aspen.runtime.one_time_queries import OneTimeQueries
from aspen.runtime.outcome import Outcome
from aspen.runtime.own_assignment import reads_own
from aspen.runtime.own_relations import (
    CLOCK,
    ENGINE_ERROR,
    ERROR_COLUMNS,
    SYSTEM_RELATIONS,
)
from aspen.runtime.provenance_queries import ProvenanceQueries
from aspen.runtime.retries import Retries
from aspen.runtime.stream_memory import StreamMemory
from aspen.runtime.system import System
from aspen.runtime.view import View
from aspen.runtime.views import Views
from aspen.views.circuit import Circuit
from aspen.views.compile import WindowIdentity
from aspen.views.operators.window import Arrival, WindowOperator


def nothing_to_note(_first: int, _last: int) -> None:
    """Keeps to itself what is in work."""


class LaneState:
    """The parts of one lane.

    Args:
        share: which of how many lanes it is.

    `held` has what is not published yet of an epoch under way, `warm` the windows of a snapshot
    under restoration, `unflushed` the position of the first entry that is taken in and not
    computed with. `at_work` is called with the first and the last position of what is in work,
    and entries at `suspects` are worked on one by one.
    """

    def __init__(self, share: LaneShare = ALONE) -> None:
        self.position = 0
        self.at_s = 0.0
        self.now_s = float("-inf")
        self.circuit = Circuit()
        self.relations: dict[str, Relation] = {}
        self.streams = StreamMemory()
        self.lifetimes = Lifetimes()
        self.errors = KeptErrors(self.circuit, share.number)
        self.assignments = Assignments(share, self.relations)
        self.views = Views(self.circuit, self.relations, self._begin, self.assignments)
        self.borders = self.views.borders
        self.provenance = ProvenanceQueries(self.views, self.circuit, self.relations)
        self.one_time = OneTimeQueries(self.provenance, self.views, self.circuit)
        self.interests = Interests()
        self.retries = Retries(self.relations)
        self.system = System(self.views, self.circuit, self.interests)
        self.intake = Intake(
            self.relations, self.circuit, self.streams, self.lifetimes, self._refuse
        )
        self.warm: dict[str, tuple[list[Arrival], float | None, int]] = {}
        self.completeness = Completeness(self.views.by_name)
        self.announcements = Announcements(self.views, self.errors)
        self.held: Outcome | None = None
        self.at_work: Callable[[int, int], object] = nothing_to_note
        self.suspects: Container[int] = frozenset()
        self.unflushed = 0
        for relation in (CLOCK, ENGINE_ERROR, *SYSTEM_RELATIONS):
            self.know(relation)

    def know(self, relation: Relation) -> None:
        """Let a relation be there."""
        self.relations[relation.name] = relation
        self.intake.know(relation)
        if relation.kind is SourceKind.STREAM:
            self.streams.know(relation)
        else:
            self.circuit.source(relation)

    def _tick(self, at_s: float) -> None:
        """Let time pass."""
        if at_s <= self.now_s:
            return
        clock = self.circuit.sources[CLOCK.name]
        if self.now_s != float("-inf"):
            self.circuit.change(clock, (self.now_s,), -1)
        self.now_s = float(at_s)
        self.circuit.change(clock, (self.now_s,), 1)
        for name, row in self.lifetimes.expire(self.now_s, self.relations):
            self.circuit.change(self.circuit.sources[name], row, -1)
            self.retries.change((name,))
        self.circuit.tick(self.now_s)
        self.streams.tick(self.now_s)
        self.system.passed()

    def _is_new(self, position: int, step: Step) -> bool:
        """Whether a step was not applied before."""
        if isinstance(step, Superstep):
            return step.number > self.borders.supersteps
        return position > self.position

    def _refuse(self, error: AspenError) -> None:
        self.errors.refuse(self.position, error)

    def _begin(self, spec: WindowIdentity, window: WindowOperator) -> None:
        """Fill a new window: from the snapshot under restoration, or with what is remembered."""
        held = self.warm.get(spec.identity)
        if held is None:
            self.streams.begin(self.relations[spec.stream], spec, window)
        else:
            window.came = self.streams.came(spec.stream)
            arrivals, since_s, window.late = held
            window.load(self.now_s, arrivals, since_s)
        self.completeness.watch(window)


class Announcements:
    """What a lane tells beyond what changed, in the next batch it tells of.

    `everything` is for whoever knows none of its views; `anew`, what lanes say of themselves, for
    whoever knows what other lanes said. Telling resets them.
    """

    def __init__(self, views: Views, errors: KeptErrors) -> None:
        self._views = views
        self._errors = errors
        self.everything = False
        self.anew = False

    def tell(self, outcome: Outcome) -> None:
        """Publish what is due, at the beginning of an epoch."""
        everything, self.everything = self.everything, False
        anew, self.anew = self.anew, False
        for name, view in self._views.by_name.items():
            own = anew and _of_lanes(view)
            if own:
                outcome.close(name, known=True)
            if everything or own:
                _tell_of(name, view, outcome)
        if anew:
            outcome.close(ENGINE_ERROR.name, known=True)
        if (everything or anew) and self._errors.own:
            outcome.open(ENGINE_ERROR.name, ERROR_COLUMNS, self._errors.own)


def _of_lanes(view: View) -> bool:
    """Whether a view says other things where there are other lanes."""
    refused = (view.error or {}).get("code") == CrossesLanes.code
    return refused or (view.closed is not None and reads_own(view.closed))


def _tell_of(name: str, view: View, outcome: Outcome) -> None:
    if view.error is not None:
        outcome.fail(name, view.error, {})
    elif not view.suspended:
        outcome.open(name, view.columns, view.rows, view.complete_since_s)
