"""Borders: what all lanes know of the border rows of one recursion; the same in each of them.

    leaving     what each lane last sent as what it would ship, the best row by key
    withdraw    border rows that no longer hold, and all border rows that rest on them, in all lanes
    ship        border rows that are new or cost less

Law:        a function of the supersteps taken, whatever the order of their rows. So every lane
            computes the mail of all lanes and takes its own: nobody acknowledges anything.
Ends:       what is left after withdrawing can be derived, so shipping only ever improves; costs
            grow at every step, so no row comes to rest on itself.
Source:     [LTZIL09], MinShip: of a key's derivations a lane ships its best, and another only when
            that one dies. Who rests on whom is followed over lanes, as DRed over-deletes, but along
            the one derivation in use.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

from aspen.algebra.subnetwork import Share
from aspen.model.arrays import row_in
from aspen.model.delta import Delta, accumulate
from aspen.model.schema import Row

At = tuple[int, Row]
"""A lane, and the key of a row that would leave it."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Which columns of a border row say what; see `Share`."""

    keys: tuple[int, ...]
    steady: tuple[int, ...]
    cost: int
    node: int

    @classmethod
    def of(cls, share: Share) -> Layout:
        """Returns a share's; all lanes have the same."""
        return cls(share.keys, share.steady, share.cost, share.node)


class Borders:
    """The border rows of one recursion over all lanes.

    Args:
        lanes: how many there are.
    """

    def __init__(self, layout: Layout, lanes: int) -> None:
        self._layout = layout
        self.leaving: list[dict[Row, Row]] = [{} for _ in range(lanes)]
        self.shipped: list[dict[Row, Row]] = [{} for _ in range(lanes)]
        self._resting: list[dict[Row, dict[Row, None]]] = [{} for _ in range(lanes)]
        self._doubtful: dict[At, None] = {}

    @property
    def waiting(self) -> bool:
        """Whether another superstep would ship something, even if no lane had news."""
        return any(self._ships(number, key) for number, key in self._doubtful)

    def take(self, sent: Sequence[Delta]) -> list[Delta]:
        """Take a superstep.

        Args:
            sent: by lane, the net change of its leaving rows.

        Returns:
            By lane, the change of the border rows that came there.
        """
        for number, delta in enumerate(sent):
            leaving = self.leaving[number]
            for row, weight in sorted(delta.items(), key=lambda change: change[1]):
                key = _at(row, self._layout.keys)
                self._doubtful[number, key] = None
                if weight > 0:
                    leaving[key] = row
                elif leaving.get(key) == row:
                    del leaving[key]
        mail: list[Delta] = [{} for _ in self.shipped]
        self._withdraw(mail)
        if not any(mail):
            self._ship(mail)
        return mail

    def arrived(self, lane: int) -> Delta:
        """Returns the border rows that came to a lane and are not withdrawn."""
        return {
            (sender, *row[:-2]): 1
            for sender, rows in enumerate(self.shipped)
            for row in rows.values()
            if row[-1] == lane
        }

    def dump(self) -> dict[str, Any]:
        """Returns the state, for a snapshot."""
        return {
            "layout": astuple(self._layout),
            "leaving": [[list(row) for row in rows.values()] for rows in self.leaving],
            "shipped": [[list(row) for row in rows.values()] for rows in self.shipped],
            "doubtful": [[number, *key] for number, key in self._doubtful],
        }

    @classmethod
    def load(cls, body: Mapping[str, Any]) -> Borders:
        """Returns the borders that `dump` was called of."""
        keys, steady, cost, node = body["layout"]
        layout = Layout(tuple(keys), tuple(steady), cost, node)
        loaded = cls(layout, len(body["leaving"]))
        for number, rows in enumerate(body["leaving"]):
            loaded.leaving[number].update((_at(row, layout.keys), row) for row in map(row_in, rows))
        for number, rows in enumerate(body["shipped"]):
            for row in map(row_in, rows):
                loaded._put(number, _at(row, layout.keys), row)
        for number, *key in body["doubtful"]:
            loaded._doubtful[number, tuple(key)] = None
        return loaded

    def _withdraw(self, mail: list[Delta]) -> None:
        """Take back what no longer holds, and what rested on it."""
        fallen: list[At] = []
        for number, key in self._doubtful:
            row, now = self.shipped[number].get(key), self.leaving[number].get(key)
            if row is None:
                continue
            if now is None or self._cost(now) > self._cost(row) or now[-1] != row[-1]:
                fallen.append((number, key))
            elif now[-2] != row[-2]:
                self._drop(number, key)
                self._put(number, key, (*row[:-2], now[-2], row[-1]))  # what it rests on now
        while fallen:
            number, key = fallen.pop()
            if key not in self.shipped[number]:
                continue
            row = self._drop(number, key)
            target = _lane(row)
            accumulate(mail[target], (number, *row[:-2]), -1)
            self._doubtful[number, key] = None
            came = (*_at(row, self._layout.steady), row[self._layout.node])
            fallen += [(target, one) for one in self._resting[target].get(came, ())]

    def _ship(self, mail: list[Delta]) -> None:
        """Ship what is new or better."""
        for number, key in self._doubtful:
            if not self._ships(number, key):
                continue
            row = self.leaving[number][key]
            if key in self.shipped[number]:
                old = self._drop(number, key)
                accumulate(mail[_lane(old)], (number, *old[:-2]), -1)
            accumulate(mail[_lane(row)], (number, *row[:-2]), 1)
            self._put(number, key, row)
        self._doubtful.clear()

    def _ships(self, number: int, key: Row) -> bool:
        row, old = self.leaving[number].get(key), self.shipped[number].get(key)
        return row is not None and (old is None or self._cost(old) > self._cost(row))

    def _put(self, number: int, key: Row, row: Row) -> None:
        self.shipped[number][key] = row
        self._resting[number].setdefault(self._rests_on(row), {})[key] = None

    def _drop(self, number: int, key: Row) -> Row:
        row = self.shipped[number].pop(key)
        on = self._rests_on(row)
        resting = self._resting[number][on]
        del resting[key]
        if not resting:
            del self._resting[number][on]
        return row

    def _rests_on(self, row: Row) -> Row:
        return (*_at(row, self._layout.steady), row[-2])

    def _cost(self, row: Row) -> int:
        cost = row[self._layout.cost]
        assert isinstance(cost, int)
        return cost


def _at(row: Row, indices: Iterable[int]) -> Row:
    return tuple(row[index] for index in indices)


def _lane(row: Row) -> int:
    assert isinstance(row[-1], int)
    return row[-1]
