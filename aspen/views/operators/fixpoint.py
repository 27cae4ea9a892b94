"""Fixpoint: keep a recursion, e.g. reach = edge ∪ π(edge ⋈ reach), or several views at once.

    epoch     1          2              3
    edge      +ab +bc    -bc +ac        +bc
    reach     +ab +bc    -bc            +bc          (ac was there before: it finds another
              +ac                                     derivation, and no delta shows)

Law:        after each epoch, contents == least fixpoint over the inputs so far.
Algorithm:  [LTZIL09] Alg. 1, semi-naive: MinShip forwards one derivation of a row. A deletion
            retracts the rows that the Support says have fallen, withdraws what used them, and
            settles whatever still has a waiting derivation. Own: relations settle together, and a
            row that loses its derivation to a better row of another is retracted and tried again.
State:      per relation key -> Group (row, waiting derivations); what the Support remembers.
Receives:   deltas of the bases and of the steps' inputs.     Gives: weights +1 and -1 of a set;
            of several relations, rows are (number of the relation, row).
Ends:       a row's life is pending -> fresh -> settled; a settled row is pending again only for
            a better one, or when its support fell. A budget stops steps that never settle.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop
from typing import Any

from aspen.model.delta import Delta, accumulate
from aspen.model.schema import Row
from aspen.views.node import EndlessRecursion, Lookups, Node, Way
from aspen.views.operators.agenda import Agenda, Entry
from aspen.views.operators.min_ship import Group, Source
from aspen.views.operators.multi_best_relation import MultiBestRelation
from aspen.views.operators.relation import RecursiveRelation
from aspen.views.operators.rules import Rules
from aspen.views.operators.support.support import Support
from aspen.views.work import RECURSION

MAX_ROWS = 2_000_000
"""Rows of one recursive relation; ~0.5 kB each, so a lane of 1 GB."""

_RESETTLES = 16
"""Settlements per group and epoch before a recursion counts as endless; Dijkstra needs 1."""


class FixpointOperator(Node):
    """A recursion.

    Args:
        rules: what derives its rows.
        relations: its relations, in the order of their numbers.
        support: the maintenance strategy.
        most: rows a relation may have, None for MAX_ROWS.
        flows: whether costs come from the costs of all rows they are derived from.
    """

    what = RECURSION

    def __init__(
        self,
        rules: Rules,
        relations: tuple[RecursiveRelation, ...],
        support: Support,
        most: int | None = None,
        *,
        flows: bool = True,
    ) -> None:
        self.sides = rules.sides
        fed = [side.node for side in self.sides]
        fed += [side.static for side in self.sides if side.static not in (None, side.node)]
        super().__init__(*fed)
        self._rules = rules
        self._steps = rules.steps
        self.relations = relations
        for number, relation in enumerate(relations):
            relation.number = number
        self._agenda = Agenda(support)
        for relation in relations:
            relation.join(self._agenda)
        self._flows = flows
        # By relation: who enumerates the derivations of a row, and who takes them.
        self._readers = tuple(
            [
                (reader, relations[step.gives].offer, relations[step.gives].withdraw)
                for step in rules.steps
                for number, reader in step.entries
                if number == index
            ]
            for index in range(len(relations))
        )
        self._before: dict[Group, Row | None] = {}
        self._most = most
        self._budget = 0

    @property
    def support(self) -> Support:
        """The maintenance strategy."""
        return self._agenda.support

    @property
    def groups(self) -> dict[object, Group]:
        """Every group; of several relations, by (number of the relation, key)."""
        if len(self.relations) == 1:
            return self.relations[0].groups
        return {
            (number, key): group
            for number, relation in enumerate(self.relations)
            for key, group in relation.groups.items()
        }

    def start(self) -> None:
        """Compute the view from the inputs' contents."""
        self._rules.count_on(self.meter)
        for side in self.sides:
            side.start()
        self._from_scratch()
        self._end()

    def stop(self) -> None:
        """Returns the arrangements back."""
        for side in self.sides:
            side.stop()
        self._forget()
        self.support.close()

    def kept(self) -> int:
        """Count the settled rows."""
        return sum(relation.settled for relation in self.relations)

    def held_rows(self) -> int:
        """Count the derivations that wait, twice: each names the rows it used."""
        return 2 * sum(
            len(group.waiting) for relation in self.relations for group in relation.groups.values()
        )

    def contents(self) -> Delta:
        """Returns the rows."""
        return {
            self._told(group, group.best): 1
            for relation in self.relations
            for group in relation.groups.values()
            if group.best is not None
        }

    def _told(self, group: Group, row: Row) -> Any:
        """Returns a row as this node gives it."""
        if len(self.relations) == 1:
            return row
        return (group.relation.number, row)

    def ways(self, row: Row, asked: Lookups) -> Iterable[Way]:
        """Returns the live derivations of a row, the waiting ones too when all are asked for."""
        tagged: Any = row
        number, inner = (0, tagged) if len(self.relations) == 1 else tagged
        relation = self.relations[number]
        group = relation.groups[relation.key(inner)]
        found = [source for source, derived in group.waiting.items() if derived == inner]
        if not asked.every and group.via is not None:
            found = [group.via]
        return [self._way(source) for source in found]

    def _way(self, source: Source) -> Way:
        rows: list[tuple[Node, Row]] = []
        for premise in self._rules.premises(source):
            assert premise.best is not None
            rows.append((self, self._told(premise, premise.best)))
        taken = self._rules.taken(source)
        return (*rows, *((side.node, row) for side, row in taken if not side.absent))

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
                    accumulate(out, self._told(group, before), -1)
                if group.best is not None:
                    accumulate(out, self._told(group, group.best), 1)
        self._end()
        return out

    def _rebuild(self) -> Delta:
        """Start again: something went that annotations know nothing of, or none are kept."""
        out = dict.fromkeys(self.contents(), -1)
        self._forget()
        self._before.clear()
        for side in self.sides:
            side.hide_gone()
            side.show_born()
        self._from_scratch()
        for row in self.contents():
            accumulate(out, row, 1)
        self._end()
        return out

    def _forget(self) -> None:
        """Drop all groups."""
        self.support.clear()
        self._agenda.clear()
        for relation in self.relations:
            relation.clear()

    def _from_scratch(self) -> None:
        for number, relation in enumerate(self.relations):
            for source, row in self._rules.begun(number):
                relation.offer(source, row)
        self._settle_pending()

    def _bury(self) -> None:
        """Retract what rested on rows that went, and withdraw derivations that used them."""
        agenda, rules = self._agenda, self._rules
        agenda.burying = True
        unsettled: dict[Group, None] = {}
        self._fell(self.support.doomed(), unsettled)
        for number, base in enumerate(rules.bases):
            for row in base.gone.get((), ()):
                self.relations[number].withdraw(rules.first(number, row), row)
        for step in self._steps:
            step.bury(self.relations[step.gives].withdraw)
        while fallen := self.support.fallen():
            self._fell(fallen, unsettled)
        agenda.burying = False
        for group in unsettled:
            group.relation.propose(group)

    def _fell(self, groups: list[Group], unsettled: dict[Group, None]) -> None:
        for group in groups:
            if group.best is not None:
                unsettled[group] = None
                self._retract(group)

    def _arise(self) -> None:
        """Take in the rows that came."""
        rules = self._rules
        for number, base in enumerate(rules.bases):
            for row in base.born.get((), ()):
                self.relations[number].offer(rules.first(number, row), row)
            base.show_born()
        for step in self._steps:
            step.arise(self.relations[step.gives].offer)

    def _settle_pending(self) -> None:
        """Settle pending derivations until none is left: sets at once, then best first."""
        agenda = self._agenda
        first = agenda.first
        self._budget = _RESETTLES * sum(len(one.groups) for one in self.relations) + 10_000
        while True:
            while first:
                group, source, row = first.popleft()
                # The very row: an equal one may have been withdrawn and offered again.
                if group.best is None and group.waiting.get(source) is row:
                    self._settle(group, source, row)
            heap = agenda.next_heap()
            if heap is not None:
                self._settle_best(heap)
            elif agenda.doubtful:
                agenda.orphans += agenda.doubtful
                agenda.doubtful.clear()
                self._try_again()
            else:
                return

    def _settle_best(self, heap: list[Entry]) -> None:
        """Settle the best candidate of a heap, if it is one still."""
        _, _, choice, group, source, row = heappop(heap)
        if group.waiting.get(source) is not row:
            return
        relation = group.relation
        if isinstance(relation, MultiBestRelation):
            won, beaten = relation.challenge(group, choice)
            if beaten is not None:
                self._retract(beaten)
            if won and group.best is None:
                self._settle(group, source, row)
            elif self._agenda.orphans:
                self._try_again()
        elif relation.improves(group, row):
            if group.best is not None:
                older = self._older(group, source)
                self._retract(group)
                group.older = older
            self._settle(group, source, row)

    def _older(self, group: Group, source: Source) -> dict[Source, Row] | None:
        """Returns what a group goes on to rest on when it improves.

        The better derivation may use rows that are there because the group was, with a worse row:
        without the first derivation they would hold each other.
        """
        if self._flows or group.via is None or group.best is None:
            return None
        older = {**(group.older or {}), group.via: group.best}
        older.pop(source, None)
        return older

    def _settle(self, group: Group, source: Source, row: Row) -> None:
        self._budget -= 1
        relation = group.relation
        relation.settled += 1
        if relation.settled > (self._most or MAX_ROWS):
            raise EndlessRecursion(
                f"{relation.name} derived more than {self._most or MAX_ROWS} rows",
                found=relation.name,
                attempt="bound it: MIN or MAX over a growing column, or a WHERE on it",
            )
        if group not in self._before:
            self._before[group] = None
            self._budget += _RESETTLES
        if self._budget <= 0:
            raise EndlessRecursion(
                f"rows of {relation.name} improve without end",
                found=relation.name,
                attempt="every step must add to a minimised cost, never take from it",
            )
        group.best, group.via = row, source
        agenda = self._agenda
        agenda.support.settled(group, source)
        for index in relation.indexes.values():
            index.add(group, row)
        start = (group,)
        for reader, offer, _ in self._readers[relation.number]:
            reader.derive(start, row, offer)
        if agenda.orphans:
            self._try_again()

    def _retract(self, group: Group) -> None:
        """Make a settled group pending again, and take back what was derived from its row."""
        row, relation = group.best, group.relation
        assert row is not None
        self._before.setdefault(group, row)
        self.support.retracted(group)
        group.best = group.via = group.older = None
        relation.settled -= 1
        start = (group,)
        for reader, _, withdraw in self._readers[relation.number]:
            reader.derive(start, row, withdraw)
        for index in relation.indexes.values():
            index.remove(group, row)
        relation.left(group)

    def _try_again(self) -> None:
        """Retract whoever lost its forwarded derivation, then whoever rested on those, and so on.

        What waits in the end rests on nothing that was retracted, and is proposed again.
        """
        orphans = self._agenda.orphans
        unsettled: list[Group] = []
        while orphans:
            group = orphans.pop()
            if group.best is None:
                continue
            if not group.relation.stands(group):
                self._retract(group)
                unsettled.append(group)
        for group in unsettled:
            group.relation.propose(group)

    def _end(self) -> None:
        """Forget what only this epoch needed; give back unused variables."""
        agenda = self._agenda
        for group in agenda.emptied:
            if not group.waiting and group.best is None:
                group.relation.remove(group)
        agenda.clear()
        self._before.clear()
        successor = self.support.end()
        if successor is not None:
            self.support.close()
            agenda.support = successor
        for side in self.sides:
            side.end()
