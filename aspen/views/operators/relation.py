"""Relation: one relation of a recursion, a set of rows with their waiting derivations.

    offer      d1: ab    d2: ab    d3: ac            withdraw  d1
    groups     ab: d1    ab: d1 d2  ac: d3                     ab: d2

Law:        a group waits with exactly the derivations offered and not withdrawn.
Algorithm:  MinShip's buffer, see `min_ship.py`: a derivation waits as its source.
State:      key -> Group; indexes of the settled ones for rules that join them.
Receives:   derivations, withdrawals.     Gives: proposals to the agenda.
Ends:       a settled row is proposed again only when it was retracted.
"""

from __future__ import annotations

from aspen.model.schema import Row
from aspen.views.node import Indices, Key
from aspen.views.operators.agenda import Agenda
from aspen.views.operators.min_ship import Group, SettledIndex, Source


class RecursiveRelation:
    """See the module's head.

    `settled` counts the groups with a row; `number` is its own in the recursion.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.number = 0
        self.groups: dict[Key, Group] = {}
        self.settled = 0
        self.indexes: dict[Indices, SettledIndex] = {}
        self.agenda: Agenda

    def join(self, agenda: Agenda) -> None:
        """Say with which relations it is settled together."""
        self.agenda = agenda

    def index(self, indices: Indices) -> SettledIndex:
        """Returns the index of the settled rows by some columns."""
        return self.indexes.setdefault(indices, SettledIndex(indices))

    def key(self, row: Row) -> Key:
        """Returns the group of a row: in a set, the row itself."""
        return row

    def offer(self, source: Source, row: Row) -> None:
        """Take a derivation into its group's buffer; propose it if its row is not there yet."""
        group = self.groups.get(row)
        if group is None:
            group = self.groups[row] = Group(row, self)
        else:
            row = group.key  # one tuple for all its derivations
        group.waiting[source] = row
        agenda = self.agenda
        if agenda.support.wants_offers:
            agenda.support.offered(group, source)
        if group.best is None:
            agenda.first.append((group, source, row))

    def propose(self, group: Group) -> None:
        """Propose whatever a retracted group may settle with again."""
        for source, row in group.waiting.items():
            self.agenda.first.append((group, source, row))

    def withdraw(self, source: Source, row: Row) -> None:
        """Take a derivation out of its group's buffer."""
        group = self.groups.get(self.key(row))
        if group is None or group.waiting.pop(source, None) is None:
            return
        agenda = self.agenda
        if not group.waiting:
            agenda.emptied[group] = None
        older = group.older is not None and source in group.older
        if agenda.burying:
            if older and group.older is not None:
                # What it rested on first is what it rests on: that is the one to tell.
                del group.older[source]
                group.via = source
            agenda.support.withdrawn(group, source, row)
        if agenda.watching or not agenda.burying:
            # Where it is not known which derivation a row rests on, it may be this one.
            rests = older or group.via is None or group.via == source
            if rests and group.best is not None:
                (agenda.doubtful if agenda.burying else agenda.orphans).append(group)

    def improves(self, group: Group, row: Row) -> bool:
        """Whether a row is worth more than the one its group settled with: never in a set."""
        del group, row
        return False

    def stands(self, group: Group) -> bool:
        """Whether a settled group has the derivations it rests on, and they give no worse rows."""
        if group.via not in group.waiting:
            return False
        older = group.older or {}
        return all(self.no_worse(group.waiting.get(source), row) for source, row in older.items())

    def no_worse(self, row: Row | None, than: Row | None) -> bool:
        """Whether a derivation still gives a row, and no worse one than it did."""
        del than
        return row is not None

    def left(self, group: Group) -> None:
        """Hear that a group was retracted."""

    def remove(self, group: Group) -> None:
        """Forget a group without derivations."""
        if self.groups.get(group.key) is group:
            del self.groups[group.key]

    def clear(self) -> None:
        """Forget all groups, and the cycles in which they refer to one another."""
        for group in self.groups.values():
            group.via = group.older = None
            group.waiting.clear()
        self.groups.clear()
        self.settled = 0
        for index in self.indexes.values():
            index.clear()
