"""Subnetworks: a recursion over several lanes, each of which has the edges' work of its networks.

    epoch     every lane reaches its local fixpoint
    withdraw  border rows that no longer hold, and all border rows that rested on them, in all lanes
    ship      border rows that are new or cost less, until none is: a round per border crossing

Law:        after each epoch the rows are those of one lane that has everything.
Ends:       what is left after withdrawing can be derived, so shipping only ever improves; costs
            grow at every step, so no row comes to rest on itself.
Source:     [LTZIL09], MinShip: of a key's derivations a lane ships its best, and another only when
            that one dies. Who rests on whom is followed over lanes, as DRed over-deletes, but along
            the one derivation in use.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from aspen.algebra.explain import plan_text
from aspen.algebra.plan import Fixpoint
from aspen.algebra.subnetwork import ARRIVED, INNER, LEAVING, Networks, Share, share_of
from aspen.log.entry import Change, Declare, Entry, Register, Transaction
from aspen.model.delta import Delta, merge
from aspen.model.schema import Relation, Row
from aspen.runtime.lane import Lane

ROWS = "rows"
_STRATEGY = "justification"
"""A choice by size would be made before there are any rows, and fall on recomputing."""


@dataclass(slots=True)
class Meter:
    """What crossed the borders.

    Args:
        rounds: in which something did.
        shipped: rows sent because they were new or better.
        withdrawn: rows taken back.
    """

    rounds: int = 0
    shipped: int = 0
    withdrawn: int = 0


@dataclass(slots=True)
class _Part:
    """One lane, what would leave it now, and what was shipped, by key."""

    lane: Lane
    share: Share
    leaving: dict[Row, Row] = field(default_factory=dict)
    shipped: dict[Row, Row] = field(default_factory=dict)


class SubNetworks:
    """A recursion in several lanes of one process.

    Args:
        plan: over base relations.
        column: of it: the place a row is at.
        networks: which network a place lies in.
        relations: the declarations of all relations it scans, and of the networks.
        count: of lanes.

    Raises:
        CannotSplit: it is no recursion along edges.
    """

    def __init__(
        self,
        plan: Fixpoint,
        column: str,
        networks: Networks,
        relations: Iterable[Relation],
        count: int,
    ) -> None:
        self.meter = Meter()
        self._parts: list[_Part] = []
        declared = list(relations)
        for number in range(count):
            share = share_of(plan, column, networks, number, count)
            part = _Part(Lane(), share)
            self._parts.append(part)
            self._feed(
                part,
                [
                    *(Declare(0.0, relation) for relation in (*declared, share.arrived)),
                    Register(0.0, INNER, plan_text(share.inner), _STRATEGY),
                    Register(0.0, LEAVING, plan_text(share.leaving)),
                    Register(0.0, ROWS, plan_text(share.rows)),
                ],
                {},
            )

    def apply(self, entries: Sequence[Entry]) -> Delta:
        """Apply one batch of entries and exchange border rows until nothing moves.

        Returns:
            The net change of the recursion's rows.
        """
        change: Delta = {}
        for part in self._parts:
            self._feed(part, entries, change)
        at_s = entries[-1].at_s if entries else 0.0
        while True:
            mail = self._withdrawn() or self._new()
            if not any(mail):
                return change
            self.meter.rounds += 1
            for part, changes in zip(self._parts, mail, strict=True):
                if changes:
                    self._feed(part, [Transaction(at_s, tuple(changes))], change)

    def rows(self) -> Delta:
        """Give the recursion's rows."""
        total: Delta = {}
        for part in self._parts:
            merge(total, part.lane.rows(ROWS))
        return total

    def _feed(self, part: _Part, entries: Sequence[Entry], change: Delta) -> None:
        lane = part.lane
        for told in lane.apply(list(enumerate(entries, start=lane.position + 1))):
            assert told.error is None, told.error
            if told.view == ROWS:
                merge(change, told.delta)
            elif told.view == LEAVING:
                for row, weight in sorted(told.delta.items(), key=lambda one: one[1]):
                    key = _at(row, part.share.keys)
                    if weight > 0:
                        part.leaving[key] = row
                    elif part.leaving.get(key) == row:
                        del part.leaving[key]

    def _withdrawn(self) -> list[list[Change]]:
        """Take back what no longer holds, and what rested on it; empty where all holds."""
        waiting: list[tuple[int, Row]] = []
        resting: list[dict[Row, list[Row]]] = []
        for number, part in enumerate(self._parts):
            on: dict[Row, list[Row]] = {}
            for key, row in part.shipped.items():
                now = part.leaving.get(key)
                if now is None or self._cost(now) > self._cost(row) or now[-1] != row[-1]:
                    waiting.append((number, key))
                else:
                    part.shipped[key] = (*row[:-2], now[-2], row[-1])  # what it rests on now
                rests_on = part.shipped[key][-2]
                on.setdefault((*_at(row, part.share.steady), rests_on), []).append(key)
            resting.append(on)
        mail: list[list[Change]] = [[] for _ in self._parts]
        while waiting:
            number, key = waiting.pop()
            part = self._parts[number]
            if key not in part.shipped:
                continue
            row = part.shipped.pop(key)
            target, share = row[-1], part.share
            assert isinstance(target, int)
            mail[target].append(Change(ARRIVED, -1, (number, *row[:-2])))
            self.meter.withdrawn += 1
            arrived = (*_at(row, share.steady), row[share.place])
            waiting += [(target, one) for one in resting[target].get(arrived, ())]
        return mail if any(mail) else []

    def _new(self) -> list[list[Change]]:
        """Ship what is new or better."""
        mail: list[list[Change]] = [[] for _ in self._parts]
        for number, part in enumerate(self._parts):
            for key, row in part.leaving.items():
                old = part.shipped.get(key)
                if old is not None and self._cost(old) <= self._cost(row):
                    continue
                target = row[-1]
                assert isinstance(target, int)
                if old is not None:
                    mail[target].append(Change(ARRIVED, -1, (number, *old[:-2])))
                mail[target].append(Change(ARRIVED, 1, (number, *row[:-2])))
                part.shipped[key] = row
                self.meter.shipped += 1
        return mail

    def _cost(self, row: Row) -> int:
        cost = row[self._parts[0].share.cost]
        assert isinstance(cost, int)
        return cost


def _at(row: Row, places: Sequence[int]) -> Row:
    return tuple(row[place] for place in places)
