"""MultiBestRelation: a relation under several MINs and MAXs; a row stays if it is best for one.

    offer      k: 3 hops, 9 s     k: 5 hops, 4 s     k: 4 hops, 6 s
    settled    k: 3 hops, 9 s     both               both: the third is best for neither

Law:        per key and choice the row is settled that is least by (that cost, the other costs,
            spelling); nothing else is.
Algorithm:  [LTZIL09] Alg. 4 (AggSel), several aggregates: each row is a group of its own, each
            choice of a key has a holder among them.
State:      row -> Group; key -> Contest.
Receives:   derivations, withdrawals.     Gives: proposals, one per choice, by its rank.
Ends:       a choice changes its holder only for a strictly better row.
"""

from __future__ import annotations

from heapq import heappush

from aspen.model.schema import Row
from aspen.views.node import Key
from aspen.views.operators.agenda import Agenda, Entry
from aspen.views.operators.agg_sel import Selection
from aspen.views.operators.min_ship import Group, Source
from aspen.views.operators.relation import RecursiveRelation


class Contest:
    """The rows of one key.

    `members` have derivations; `holders` are, per choice, the settled row that is best for it.
    """

    __slots__ = ("holders", "members")

    def __init__(self, choices: int) -> None:
        self.members: dict[Group, None] = {}
        self.holders: list[Group | None] = [None] * choices


class MultiBestRelation(RecursiveRelation):
    """See the module's head.

    Args:
        choices: how candidates compete, all by the same keys.
    """

    def __init__(self, name: str, choices: tuple[Selection, ...]) -> None:
        super().__init__(name)
        self._choices = choices
        self._heaps: list[list[Entry]] = []
        self._contests: dict[Key, Contest] = {}

    def join(self, agenda: Agenda) -> None:
        """Take a heap per choice."""
        super().join(agenda)
        self._heaps = [agenda.heap((id(self), at)) for at in range(len(self._choices))]

    def offer(self, source: Source, row: Row) -> None:
        """Take a derivation into its row's buffer; propose the row for every choice."""
        group = self.groups.get(row)
        if group is None:
            if all(row[choose.cost] is None for choose in self._choices):
                return
            group = self.groups[row] = Group(row, self)
            self._contest(row).members[group] = None
        group.waiting[source] = row
        agenda = self.agenda
        if agenda.support.wants_offers:
            agenda.support.offered(group, source)
        if group.best is None:
            self._push(group, source, row)

    def _contest(self, row: Row) -> Contest:
        key = self._choices[0].key(row)
        known = self._contests.get(key)
        if known is None:
            known = self._contests[key] = Contest(len(self._choices))
        return known

    def _push(self, group: Group, source: Source, row: Row) -> None:
        for at, choose in enumerate(self._choices):
            if row[choose.cost] is not None:
                entry = (choose.rank(row), next(self.agenda.number), at, group, source, row)
                heappush(self._heaps[at], entry)

    def propose(self, group: Group) -> None:
        """Propose all rows of a retracted row's key: one that is settled may win another choice."""
        for member in self._contest(group.key).members:
            for source, row in member.waiting.items():
                self._push(member, source, row)

    def challenge(self, group: Group, at: int) -> tuple[bool, Group | None]:
        """Let a row try for one choice.

        Returns:
            Whether it won, and the settled row that is best for nothing any more.
        """
        contest, rank = self._contest(group.key), self._choices[at].rank
        holder = contest.holders[at]
        if holder is not None and not rank(group.key) < rank(holder.key):
            return False, None
        contest.holders[at] = group
        return True, holder if holder is not None and holder not in contest.holders else None

    def left(self, group: Group) -> None:
        """Let go of the choices of a retracted row."""
        contest = self._contest(group.key)
        contest.holders = [None if held is group else held for held in contest.holders]

    def remove(self, group: Group) -> None:
        """Forget a row without derivations."""
        if self.groups.get(group.key) is not group:
            return
        super().remove(group)
        contest = self._contest(group.key)
        contest.members.pop(group, None)
        if not contest.members:
            del self._contests[self._choices[0].key(group.key)]

    def clear(self) -> None:
        """Forget all rows."""
        super().clear()
        self._contests.clear()
