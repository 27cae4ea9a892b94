"""Lanes: several lanes in one process, as one state machine; Spark has each in a task of its own.

    data     e1 e2 ─► every lane
    supersteps  what they send each other ─► every lane, until all are quiescent

Law:     what `apply` gives folds to what one lane gives, for any number of lanes.
"""

from __future__ import annotations

from collections.abc import Sequence

from aspen.log.superstep import Step, Superstep, decode_superstep, encode_sent, encode_superstep
from aspen.model.delta import Delta, merge
from aspen.results.protocol import ViewChange
from aspen.runtime.assignment import LaneShare
from aspen.runtime.lane import Lane
from aspen.runtime.outcome import merge_parts


class Lanes:
    """A number of lanes, fed with the same entries.

    Args:
        count: how many.
        base: a lane's snapshot to begin with, of whichever lane of however many.
    """

    def __init__(self, count: int, base: bytes | None = None) -> None:
        shares = [LaneShare(number, count) for number in range(count)]
        self.lanes = [Lane(s) if base is None else Lane.restore(base, s) for s in shares]
        self.supersteps = max(lane.borders.supersteps for lane in self.lanes)
        self._settle([[] for _ in shares])

    def apply(self, entries: Sequence[tuple[int, Step]]) -> list[ViewChange]:
        """Apply one batch of the log, and let lanes exchange rows; see `Lane.apply`."""
        told = self._settle([lane.apply(entries) for lane in self.lanes])
        alone = [
            change
            for lane, changes in zip(self.lanes, told, strict=True)
            for change in changes
            if change.view not in lane.shared
        ]
        parts = [
            [change for change in changes if change.view in lane.shared]
            for lane, changes in zip(self.lanes, told, strict=True)
        ]
        return alone + merge_parts(parts)

    @property
    def quiescent(self) -> bool:
        """Whether there is nothing to exchange."""
        return all(lane.borders.quiescent for lane in self.lanes)

    def round(self) -> Superstep:
        """Returns the superstep in which lanes hear what each has to tell."""
        told = [encode_sent(lane.borders.to_send()) for lane in self.lanes]
        return decode_superstep(encode_superstep(self.lanes[0].at_s, self.supersteps + 1, told))

    def hear(self, heard: Superstep) -> list[list[ViewChange]]:
        """Let every lane apply a superstep; give what each has to say of the epoch so far."""
        self.supersteps = heard.number
        return [lane.apply([(lane.position, heard)]) for lane in self.lanes]

    def _settle(self, told: list[list[ViewChange]]) -> list[list[ViewChange]]:
        while not self.quiescent:
            told = self.hear(self.round())
        return told

    def rows(self, view: str) -> Delta:
        """Returns a view's rows, from all lanes.

        Raises:
            KeyError: no such view.
        """
        total: Delta = {}
        for lane in self.lanes:
            merge(total, lane.rows(view))
        return total

    def rescaled(self, count: int, source: int = 0) -> Lanes:
        """Returns another number of lanes that go on from here.

        Args:
            source: the lane whose snapshot they begin with; any one will do.
        """
        made = Lanes(count, self.lanes[source].snapshot())
        for lane in made.lanes:
            lane.renew()
        return made
