"""Visitors: people who walk the graph from one point to the next and rest in between."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random

from sensors_sim.world import PathEdge, Spot, VisitorSpec

MOVING_BEACON_S = 1.0
RESTING_BEACON_S = 8.0
LEAST_REST_S, GREATEST_REST_S = 20.0, 180.0
GREATEST_WALK_MM = 250_000  # nobody strolls further at a time


@dataclass(frozen=True, slots=True)
class Leg:
    """One edge being walked."""

    begin_s: float
    end_s: float
    src: int
    dst: int


@dataclass
class Walker:
    """A visitor on the move.

    Args:
        at: the point last reached.
        legs: what lies ahead, in order.
        rests_until_s: when the next walk begins, while no legs are left.
    """

    spec: VisitorSpec
    rng: Random
    at: int
    legs: list[Leg] = field(default_factory=list)
    rests_until_s: float = 0.0

    def beacon_s(self) -> float:
        """Returns the time to the next beacon: often while moving, rarely while resting."""
        if self.legs:
            return MOVING_BEACON_S
        return RESTING_BEACON_S

    def advance(
        self,
        to_s: float,
        spots: Mapping[int, Spot],
        steps: Mapping[int, Sequence[PathEdge]],
        locked: frozenset[str],
    ) -> Spot:
        """Walk until a time; give where that is.

        Args:
            to_s: simulated seconds, not before the last call's.
            spots: the walking points.
            steps: the edges by start.
            locked: doors a new walk avoids.
        """
        while True:
            while self.legs and self.legs[0].end_s <= to_s:
                leg = self.legs.pop(0)
                self.at = leg.dst
                if not self.legs:
                    rest_s = self.rng.uniform(LEAST_REST_S, GREATEST_REST_S)
                    self.rests_until_s = leg.end_s + rest_s
            if self.legs or self.rests_until_s > to_s:
                break
            self._set_out(self.rests_until_s, steps, locked)
        if not self.legs:
            return spots[self.at]
        leg = self.legs[0]
        share = (to_s - leg.begin_s) / (leg.end_s - leg.begin_s)
        return _between(spots[leg.src], spots[leg.dst], share)

    def _set_out(
        self, at_s: float, steps: Mapping[int, Sequence[PathEdge]], locked: frozenset[str]
    ) -> None:
        """Choose somewhere to go and plan the walk, or rest on if there is nowhere."""
        came_from, reached = _shortest_ways(self.at, steps, locked)
        others = [node for node in reached if node != self.at]
        if not others:
            self.rests_until_s = at_s + GREATEST_REST_S
            return
        target = others[self.rng.randrange(len(others))]
        nodes = [target]
        while nodes[-1] != self.at:
            nodes.append(came_from[nodes[-1]][0])
        nodes.reverse()
        clock_s = at_s
        for src, dst in pairwise(nodes):
            walk_s = came_from[dst][1] / 1000.0 / self.spec.speed_m_s
            self.legs.append(Leg(clock_s, clock_s + walk_s, src, dst))
            clock_s += walk_s


def _between(src: Spot, dst: Spot, share: float) -> Spot:
    if src.level != dst.level:
        return src if share < 0.5 else dst  # noqa: PLR2004  # half-way up counts as above
    return Spot(
        src.level,
        src.x_m + share * (dst.x_m - src.x_m),
        src.y_m + share * (dst.y_m - src.y_m),
    )


def _shortest_ways(
    start: int, steps: Mapping[int, Sequence[PathEdge]], locked: frozenset[str]
) -> tuple[dict[int, tuple[int, int]], list[int]]:
    """Predecessor and step length of each point within a stroll, and those points in order."""
    walked = {start: 0}
    came_from: dict[int, tuple[int, int]] = {}
    queue = [(0, start)]
    reached = []
    while queue:
        length_mm, here = heapq.heappop(queue)
        if length_mm > walked[here]:
            continue
        reached.append(here)
        for step in steps.get(here, ()):
            total_mm = length_mm + step.length_mm
            if step.door_id in locked or total_mm > GREATEST_WALK_MM:
                continue
            if total_mm < walked.get(step.dst, GREATEST_WALK_MM + 1):
                walked[step.dst] = total_mm
                came_from[step.dst] = (here, step.length_mm)
                heapq.heappush(queue, (total_mm, step.dst))
    return came_from, reached
