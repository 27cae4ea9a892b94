"""Lane: the state machine fed by the log; it hosts many maintained views in one circuit.

Law:        after `apply`, every view equals the oracle over the log prefix; how the log is cut
            into batches does not show in the folded changes; a restored lane goes on as the
            one the snapshot was taken of.
Receives:   log entries by position.     Gives: net changes per view.
Absent:     clocks, files, processes. Time comes from ticks, everything else from the log.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from aspen.errors import AspenError
from aspen.log.entry import (
    BadEntry,
    Declare,
    Interest,
    OneTimeQuery,
    Quarantined,
    Register,
    Tick,
    Transaction,
    Uninterest,
    Unreadable,
    Unregister,
    decode,
)
from aspen.log.superstep import Step, Superstep
from aspen.model.delta import Delta, add, merge, negate
from aspen.model.schema import Relation
from aspen.results.protocol import ViewChange
from aspen.runtime.assignment import ALONE, LaneShare
from aspen.runtime.collector import uncollected
from aspen.runtime.lane_state import LaneState
from aspen.runtime.one_time_queries import answer_name, latest_tick_s
from aspen.runtime.outcome import Outcome
from aspen.runtime.own_relations import ENGINE_ERROR, ERROR_COLUMNS, OWN_RELATIONS
from aspen.runtime.snapshot import read_snapshot, write_snapshot
from aspen.runtime.view import OF_ONE, WAITING, View
from aspen.views.compile import CannotMaintain
from aspen.views.operators.scan import ScanOperator
from aspen.views.work import WorkExceeded

_BY_THEMSELVES = (Declare, Register, Unregister, OneTimeQuery, Quarantined)
"""What these do must not depend on what happened to come in the same batch before them."""


class Lane(LaneState):
    """One lane; see the module's head."""

    def apply(
        self, entries: Sequence[tuple[int, Step]], *, published: bool = False
    ) -> list[ViewChange]:
        """Apply one batch of the log, or supersteps that belong to the last one.

        Entries at positions already applied are skipped, and so are supersteps by their numbers.

        Args:
            published: what it changes is known already, so no question is answered again.

        Returns:
            The net change of every view that changed since the last batch of the log began; a newly
            registered view comes with its columns and all its rows. It is to be published only
            when the `borders` of all lanes are quiescent.
        """
        with uncollected():
            return self._apply(entries, published=published)

    def _apply(self, entries: Sequence[tuple[int, Step]], *, published: bool) -> list[ViewChange]:
        first = next((step for position, step in entries if self._is_new(position, step)), None)
        if entries and first is None:
            return []
        outcome = (self.held if isinstance(first, Superstep) else None) or self._begun()
        self.announcements.tell(outcome)
        if not published:
            self.one_time.begin(outcome)
        known = {*self.views.by_name, *self.one_time.names()}
        supersteps = False
        for position, entry in entries:
            if not self._is_new(position, entry):
                continue
            if isinstance(entry, Superstep):
                supersteps = True
                self._flush(outcome)
                self.borders.take(entry)
                self._flush(outcome)
                continue
            if supersteps:  # those before belong to an epoch that is published
                outcome, supersteps = self._begun(), False
            self.position = position
            self.at_s = max(self.at_s, entry.at_s)
            alone = isinstance(entry, _BY_THEMSELVES) or position in self.suspects
            if alone:
                self._flush(outcome)
            self.unflushed = self.unflushed or position
            self.at_work(self.unflushed, position)
            match entry:
                case Transaction(at_s, changes):
                    self.intake.take(at_s, changes)
                    self.retries.change(change.relation for change in changes)
                    for broken in sorted(self.views.keys.broken(changes)):
                        self._flush(outcome)
                        self._open(self.views.by_name[broken].entry, outcome)
                case Tick(at_s):
                    self.one_time.expire(at_s, outcome, known)
                    for view in self.interests.expire(at_s):
                        self._rest(view, outcome, known=view in known)
                    self._survey(outcome)
                    self._tick(at_s)
                    self._build_again(outcome)
                case Unreadable(error):
                    self._refuse(error)
                case Declare(_, relation):
                    self._declare(relation, outcome)
                case Register():
                    self._register(entry, outcome)
                    self._survey(outcome)
                case Unregister(_, view):
                    self._unregister(view, outcome, known=view in known)
                case Interest(at_s, view, holder, keep_s):
                    if self.interests.take(view, holder, at_s + keep_s):
                        self._wake(view, outcome)
                        self._survey(outcome)
                case Uninterest(_, view, holder):
                    if self.interests.drop(view, holder):
                        self._rest(view, outcome, known=view in known)
                case OneTimeQuery():
                    self._survey(outcome, self.one_time.reads(entry))
                    latest_s = float("inf") if published else latest_tick_s(entries, position)
                    self._ask(entry, outcome, latest_s)
                case Quarantined():
                    self._leave_out(entry, outcome)
            if alone:
                self._flush(outcome)
        self._flush(outcome)
        self.held = outcome if self.assignments.borders else None
        return self.assignments.published(outcome.changes())

    def _begun(self) -> Outcome:
        """Begin an epoch: what was held back of the last one is published by now."""
        self.assignments.begin(self.one_time.names())
        return Outcome()

    @property
    def shared(self) -> AbstractSet[str]:
        """Views of the last batch that other lanes may have changed, too."""
        return self.assignments.shared

    def announce(self) -> None:
        """Publish every view in full with the next batch: whoever listens knows none of them."""
        self.announcements.everything, self.held = True, None

    def renew(self) -> None:
        """Publish with the next batch what lanes report of themselves, as others did before."""
        self.announcements.anew = True

    def rows(self, view: str) -> Delta:
        """Returns a view's rows with their multiplicities; of a view in error, none.

        Raises:
            KeyError: no such view.
        """
        return dict(self.views.by_name[view].rows)

    def _survey(self, outcome: Outcome, also: Collection[str] = ()) -> None:
        """Let the system relations that are read, or are about to be, say what is so now."""
        if also or self.system.due:
            self._flush(outcome)
            self.system.survey(also)
            self._flush(outcome)

    def _flush(self, outcome: Outcome) -> None:
        """Run one epoch over what was taken in so far."""
        moved = self.circuit.step(self.at_s)
        apart, full = list[View](), list[View]()
        for node in moved:
            if node.failure is not None:
                guests = self.views.templates.guests(node)
                if len(guests) > 1 and isinstance(node.failure, OF_ONE):
                    apart += guests
                    continue
                for view in list(self.views.on(node)):
                    self._fail(view, node.failure, outcome)
            else:
                for view, delta in self.views.deliveries(node):
                    merge(view.rows, delta)
                    outcome.add(view.entry.view, delta)
                    if 0 < view.entry.most_rows < len(view.rows):
                        full.append(view)
                self.borders.moved(node)
            if isinstance(node, ScanOperator) and node.relation is ENGINE_ERROR:
                outcome.open(ENGINE_ERROR.name, ERROR_COLUMNS, node.delta)
        self.circuit.settle(moved)
        self.completeness.tell(outcome)
        self.unflushed = 0
        self._end_exceeding(full, outcome)
        for view in apart:  # by itself each: who asked for little goes on
            self._open(view.entry, outcome, alone=True)
        notices, self.views.notices[:] = list(self.views.notices), []
        if self.errors.keep_new(self.position, notices):
            self._flush(outcome)

    def _end_exceeding(self, full: list[View], outcome: Outcome) -> None:
        """End views that have too many rows, and those whose operators hold too much."""
        for view in full:
            try:
                view.check_rows()
            except WorkExceeded as error:
                self._fail(view, error, outcome)
        exceeded, self.circuit.exceeded = self.circuit.exceeded, []
        for budget, excess in exceeded:
            ended = self.views.by_name.get(budget.view)
            if ended is not None and ended.budget is budget and ended.error is None:
                self._fail(ended, excess, outcome)

    def _declare(self, relation: Relation, outcome: Outcome) -> None:
        if relation.name in OWN_RELATIONS:
            return
        known = self.relations.get(relation.name)
        moved: list[View] = []
        if known is not None and (known.columns, known.kind) != (relation.columns, relation.kind):
            # Rows of another shape cannot stay, nor can the views that compute with them.
            changed = CannotMaintain(f"relation {relation.name} was declared anew")
            readers = self.views.readers(relation.name)
            moved = [view for view in readers if view.only_parted_by(relation.name)]
            for view in readers:
                if view not in moved:
                    self._fail(view, changed, outcome)
            self.circuit.sources.pop(relation.name, None)
            self.streams.forget(relation.name)
            self.lifetimes.forget(relation.name)
        self.know(relation)
        for view in moved:
            self._open(view.entry, outcome)
        self._retry(outcome)

    def _fail(self, view: View, error: AspenError, outcome: Outcome) -> None:
        gone = self.views.fail(view, error)
        self.retries.note(view, self.now_s)
        outcome.fail(view.entry.view, view.error or {}, gone)

    def _fail_guests(self, outcome: Outcome) -> None:
        """Fail the views whose common dataflow failed when another one entered it."""
        broken, self.views.templates.broken = self.views.templates.broken, []
        for view, error in broken:
            if isinstance(error, OF_ONE):
                self._open(view.entry, outcome)  # in a template without the one who broke it
            else:
                self._fail(view, error, outcome)

    def _register(self, entry: Register, outcome: Outcome) -> None:
        old = self.views.by_name.get(entry.view)
        same = old is not None and replace(old.entry, at_s=entry.at_s) == entry
        if old is not None and same and old.error is None:
            if not old.suspended:
                outcome.open(entry.view, old.columns, {}, old.complete_since_s)
            return
        self._open(entry, outcome)
        if entry.view not in self.relations:
            # Whoever reads the view now reads the new one.
            for reader in self.views.readers(entry.view):
                self._open(reader.entry, outcome)
        self._retry(outcome)

    def _open(
        self, entry: Register, outcome: Outcome, *, alone: bool = False, again: bool = False
    ) -> bool:
        """Build a view in the place of the one of its name, and tell of it.

        Args:
            alone: it shares no template.
            again: it is known to be in error, so that is not told once more.

        Returns:
            Whether it is maintained.
        """
        old = self.views.by_name.get(entry.view)
        before: Delta = {} if old is None else negate(old.rows)
        view = self.views.open(entry, suspended=self._rests(entry), alone=alone)
        self.retries.note(view, self.now_s)
        self._fail_guests(outcome)
        if old is not None:
            # After opening the new one, so that what both share is not built twice.
            self.views.close(old)
        if view.error is None:
            self._tell_opened(view, add(view.rows, before), outcome)
        elif not again:
            outcome.fail(entry.view, view.error, before)
        return view.error is None

    def _rests(self, entry: Register) -> bool:
        return entry.on_demand and entry.view not in self.interests

    def _tell_opened(self, view: View, delta: Delta, outcome: Outcome) -> None:
        if view.suspended:
            outcome.close(view.entry.view, known=True)
        else:
            outcome.open(view.entry.view, view.columns, delta, view.complete_since_s)

    def _wake(self, name: str, outcome: Outcome) -> None:
        """Build a view because somebody looks at it."""
        view = self.views.by_name.get(name)
        if view is not None and view.suspended:
            self._flush(outcome)
            self._open(view.entry, outcome)

    def _rest(self, name: str, outcome: Outcome, *, known: bool) -> None:
        """Let a view that is kept on demand go, because nobody looks at it any more."""
        view = self.views.by_name.get(name)
        if view is not None and view.entry.on_demand and view.error is None:
            self._flush(outcome)
            self.views.rest(view)
            outcome.close(name, known=known)

    def _retry(self, outcome: Outcome) -> None:
        """Open views that waited for what they read."""
        waiting = True
        while waiting:
            waiting = False
            for view in list(self.views.by_name.values()):
                if (view.error or {}).get("code") not in WAITING:
                    continue
                waiting = self._open(view.entry, outcome, again=True) or waiting

    def _build_again(self, outcome: Outcome) -> None:
        """Open views in error whose rows may be other ones by now."""
        due = self.retries.due(self.now_s)
        if due:
            self._flush(outcome)
            for name in due:
                self._open(self.views.by_name[name].entry, outcome, again=True)
            self._retry(outcome)

    def _unregister(self, name: str, outcome: Outcome, *, known: bool) -> None:
        view = self.views.by_name.pop(name, None)
        if view is not None:
            self.assignments.drop(name)
            self.retries.forget(name)
            self.views.close(view)
            outcome.close(name, known=known)

    def _leave_out(self, gone: Quarantined, outcome: Outcome) -> None:
        """Tell whom it concerns that an entry is not worked on, because it ended the engine."""
        try:
            entry = decode(gone.entry.encode())
        except BadEntry:
            entry = gone
        if isinstance(entry, OneTimeQuery):
            self._ask(entry, outcome, float("-inf"), gone.error)
            return
        self._refuse(gone.error)
        if isinstance(entry, Register):
            old = self.views.by_name.get(entry.view)
            if old is not None:
                self.views.close(old)
            self.views.keep_broken(entry, gone.error.as_dict())
            outcome.fail(entry.view, gone.error.as_dict(), {} if old is None else negate(old.rows))

    def _ask(
        self,
        entry: OneTimeQuery,
        outcome: Outcome,
        latest_s: float,
        refused: AspenError | None = None,
    ) -> None:
        """Answer a question, if it is for this lane to answer, or say why nobody does."""
        own = bool(self.one_time.reads(entry))
        name, lane_of = answer_name(entry.ask), self.views.keys.lane_of
        mine, enough = self.assignments.ask(entry, name, lane_of, own=own)
        if not mine:
            self.one_time.open.setdefault(entry.ask, entry.at_s)
        elif refused is not None:
            self.one_time.refuse(entry, outcome, refused)
        else:
            together = own and self.assignments.share.lanes > 1
            self.one_time.answer(entry, outcome, latest_s, enough=enough, together=together)

    def end(self) -> None:
        """End what is being computed for the lane beside it."""
        self.one_time.answering.abandon()

    def snapshot(self) -> bytes:
        """Returns the lane's state in a compact form; circuits are rebuilt from it, not stored."""
        return write_snapshot(self)

    @classmethod
    def restore(cls, data: bytes, share: LaneShare = ALONE) -> Lane:
        """Build the lane a snapshot was taken of, or another one of its log prefix.

        Raises:
            BadSnapshot: not a snapshot, or of another version.
        """
        with uncollected():
            lane = read_snapshot(cls(share), data)
            if not lane.system.known:
                lane._survey(Outcome())  # noqa: SLF001  # a lane of this class, not somebody else's
            return lane
