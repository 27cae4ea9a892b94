"""Fixpoint: keep a recursive view, e.g. reach = edge ∪ π(edge ⋈ reach).

    epoch     1          2              3
    edge      +ab +bc    -bc +ac        +bc
    reach     +ab +bc    -bc            +bc          (ac was there before: it finds another
              +ac                                     derivation, and no delta shows)

Law:        after each epoch, contents == least fixpoint over the inputs so far.
Algorithm:  [LTZIL09] Alg. 1, semi-naive: MinShip forwards one derivation of a row. A deletion
            retracts the rows that the Support says have fallen, withdraws what used them, and
            settles whatever still has a waiting derivation.
State:      key -> Group (row, waiting derivations); what the strategy's Support remembers.
Receives:   deltas of `base` and of the step's inputs.     Gives: weights +1 and -1 of a set.
Ends:       a row's life is pending -> fresh -> settled; a settled row is pending again only for
            a better one, or when its support fell. A budget stops steps that never settle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from itertools import count
from typing import Any

from aspen.errors import AspenError
from aspen.model.delta import Delta, accumulate
from aspen.model.schema import Row
from aspen.views.node import Key, Node, Way
from aspen.views.operators.agg_sel import Selection
from aspen.views.operators.min_ship import Group, Source
from aspen.views.operators.rules import Rules
from aspen.views.operators.support.protocol import Support

MAX_ROWS = 2_000_000
"""Rows of one recursive view; ~0.5 kB each, so a lane of 1 GB."""

_RESETTLES = 16
"""Settlements per group and epoch before a recursion counts as endless; Dijkstra needs 1."""


class EndlessRecursion(AspenError):
    """A recursion that keeps deriving."""

    code = "aspen.views.endless_recursion"


class NotMonotone(AspenError):
    """A recursion in which improving one row worsens another."""

    code = "aspen.views.not_monotone"


class Fixpoint(Node):
    """A recursive view.

    Args:
        rules: what derives its rows.
        choose: which rows of a group go on.
        support: the maintenance strategy.
    """

    def __init__(self, rules: Rules, choose: Selection, support: Support) -> None:
        self.sides = rules.sides
        fed = [side.node for side in self.sides]
        fed += [side.static for side in self.sides if side.static not in (None, side.node)]
        super().__init__(*fed)
        self._rules = rules
        self._base = rules.base
        self._steps = rules.steps
        self._choose = choose
        self.support = support
        self.groups: dict[Key, Group] = {}
        self._pending: list[tuple[Any, int, Group, Source, Row]] = []
        self._order = count()
        self._before: dict[Group, Row | None] = {}
        self._emptied: dict[Group, None] = {}
        self._orphans: list[Group] = []
        self._burying = False
        self._budget = 0

    def start(self) -> None:
        """Compute the view from the inputs' contents."""
        for side in self.sides:
            side.start()
        self._from_scratch()
        self._end()

    def stop(self) -> None:
        """Give the arrangements back."""
        for side in self.sides:
            side.stop()
        self._forget()
        self.support.close()

    def contents(self) -> Delta:
        """Give the rows."""
        return {group.best: 1 for group in self.groups.values() if group.best is not None}

    def ways(self, row: Row, contents: Callable[[Node], Delta], *, every: bool) -> Iterable[Way]:
        """Give the live derivations of a row, the waiting ones too when `every` is asked for."""
        del contents
        group = self.groups[self._choose.key(row)]
        found = [source for source, derived in group.waiting.items() if derived == row]
        if not every and group.via is not None:
            found = [group.via]
        return [self._way(source) for source in found]

    def _way(self, source: Source) -> Way:
        rows: list[tuple[Node, Row]] = []
        for premise in self._rules.premises(source):
            assert premise.best is not None
            rows.append((self, premise.best))
        return (*rows, *((side.node, row) for side, row in self._rules.taken(source)))

    def step(self) -> Delta:
        """Take in one epoch of changes."""
        lost = [side.begin() for side in self.sides]
        if any(lost) or self.support.rebuilds:
            return self._rebuild()
        self._bury()
        for side in self.sides:
            side.hide_gone()
        self._arise()
        self._settle_pending()
        out: Delta = {}
        for group, before in self._before.items():
            if group.best != before:
                if before is not None:
                    accumulate(out, before, -1)
                if group.best is not None:
                    accumulate(out, group.best, 1)
        self._end()
        return out

    def _rebuild(self) -> Delta:
        """Start again: something went that annotations know nothing of, or none are kept."""
        out = dict.fromkeys(self.contents(), -1)
        self._forget()
        self._before.clear()
        self._pending.clear()
        for step in self._steps:
            step.clear()
        for side in self.sides:
            side.hide_gone()
            side.show_born()
        self._from_scratch()
        for row in self.contents():
            accumulate(out, row, 1)
        self._end()
        return out

    def _forget(self) -> None:
        """Drop all groups, and the circles in which they refer to one another."""
        self.support.clear()
        for group in self.groups.values():
            group.via = None
            group.waiting.clear()
        self.groups.clear()

    def _from_scratch(self) -> None:
        for row in self._base.matches(()):
            self._offer((None, row), row)
        self._settle_pending()

    def _bury(self) -> None:
        """Retract what rested on rows that went, and withdraw derivations that used them."""
        self._burying = True
        unsettled: dict[Group, None] = {}
        self._fell(self.support.doomed(), unsettled)
        for row in self._base.gone.get((), ()):
            self._withdraw((None, row), row)
        for step in self._steps:
            for place, join in enumerate(step.joins):
                step.remove_partners(place, self._withdraw)
                join.input.hide_gone()
        while fallen := self.support.fallen():
            self._fell(fallen, unsettled)
        self._burying = False
        for group in unsettled:
            for source, row in group.waiting.items():
                self._propose(group, source, row)

    def _fell(self, groups: list[Group], unsettled: dict[Group, None]) -> None:
        for group in groups:
            if group.best is not None:
                unsettled[group] = None
                self._retract(group)

    def _arise(self) -> None:
        """Take in the rows that came."""
        for row in self._base.born.get((), ()):
            self._offer((None, row), row)
        self._base.show_born()
        for step in self._steps:
            for place, join in enumerate(step.joins):
                step.add_partners(place, self._offer)
                join.input.show_born()

    def _settle_pending(self) -> None:
        """Settle pending derivations, best first, until none is left."""
        pending, rank_of = self._pending, self._choose.rank
        self._budget = _RESETTLES * len(self.groups) + 10_000
        while pending:
            rank, _, group, source, row = heappop(pending)
            # The very row: an equal one may have been withdrawn and offered again.
            if group.waiting.get(source) is not row:
                continue
            if group.best is not None:
                if rank_of is None or not rank < rank_of(group.best):
                    continue
                self._retract(group)
            self._settle(group, source, row)

    def _settle(self, group: Group, source: Source, row: Row) -> None:
        self._budget -= 1
        if len(self.groups) > MAX_ROWS:
            raise EndlessRecursion(
                f"the recursion derived more than {MAX_ROWS} rows",
                attempt="bound it: MIN or MAX over a growing column, or a WHERE on it",
            )
        if group not in self._before:
            self._before[group] = None
            self._budget += _RESETTLES
        if not self._budget:
            raise EndlessRecursion(
                "rows of the recursion improve without end",
                attempt="every step must add to a minimised cost, never take from it",
            )
        group.best, group.via = row, source
        self.support.settled(group, source)
        start = (group,)
        for step in self._steps:
            step.add(start, row, self._offer)
        if self._orphans:
            self._check_orphans()

    def _retract(self, group: Group) -> None:
        """Make a settled group pending again, and take back what was derived from its row."""
        row = group.best
        assert row is not None
        self._before.setdefault(group, row)
        self.support.retracted(group)
        group.best = group.via = None
        for step in self._steps:
            step.remove((group,), row, self._withdraw)

    def _offer(self, source: Source, row: Row) -> None:
        """Take a derivation into its group's buffer; propose it if it would go on."""
        choose = self._choose
        if choose.cost is not None and row[choose.cost] is None:
            return
        key = choose.key(row)
        group = self.groups.get(key)
        if group is None:
            group = self.groups[key] = Group(key)
        group.waiting[source] = row
        if self.support.hears_offers:
            self.support.offered(group, source)
        rank = choose.rank
        if group.best is None:
            heappush(
                self._pending,
                (0 if rank is None else rank(row), next(self._order), group, source, row),
            )
        elif rank is not None:
            mine = rank(row)
            if mine < rank(group.best):
                heappush(self._pending, (mine, next(self._order), group, source, row))

    def _propose(self, group: Group, source: Source, row: Row) -> None:
        rank = 0 if self._choose.rank is None else self._choose.rank(row)
        heappush(self._pending, (rank, next(self._order), group, source, row))

    def _withdraw(self, source: Source, row: Row) -> None:
        """Take a derivation out of its group's buffer."""
        group = self.groups.get(self._choose.key(row))
        if group is None or group.waiting.pop(source, None) is None:
            return
        if not group.waiting:
            self._emptied[group] = None
        if self._burying:
            self.support.withdrawn(group, source, row)
        elif group.via is not None and group.via == source:
            self._orphans.append(group)

    def _check_orphans(self) -> None:
        """See that whoever lost its forwarded derivation to a better row got a better one."""
        rank = self._choose.rank
        for group in self._orphans:
            if group.best is None or group.via is None:
                continue
            now = group.waiting.get(group.via)
            fine = now is not None and rank is not None and not rank(group.best) < rank(now)
            if not fine:
                raise NotMonotone(
                    "a better row of the recursion derives a worse one, or none",
                    attempt="the selected column may only grow along the step",
                )
        self._orphans.clear()

    def _end(self) -> None:
        """Forget what only this epoch needed; give back unused variables."""
        for group in self._emptied:
            unused = not group.waiting and group.best is None
            if unused and self.groups.get(group.key) is group:
                del self.groups[group.key]
        self._emptied.clear()
        self._before.clear()
        self._orphans.clear()
        successor = self.support.end()
        if successor is not None:
            self.support.close()
            self.support = successor
        for side in self.sides:
            side.end()
