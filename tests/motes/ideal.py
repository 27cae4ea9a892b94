"""Ideal: links that lose nothing, for laws."""

from __future__ import annotations

from collections.abc import Sequence

from sensors_sim.motes import MoteSpec, Wall
from sensors_sim.network.links import Radio, RadioLink, near_pairs


class Ideal(Radio):
    """Every frame arrives within a range on the same storey, none beyond."""

    def __init__(self, range_m: float = 30.0) -> None:
        super().__init__(range_m=range_m)

    def links(
        self, motes: Sequence[MoteSpec], walls: Sequence[Wall], seed: int, only: str = ""
    ) -> dict[tuple[str, str], RadioLink]:
        """Join every pair near enough."""
        del walls, seed
        one, other, _ = near_pairs(motes, self.range_m, 0, only)
        pairs = zip(one.tolist(), other.tolist(), strict=True)
        names = [(motes[i].mote, motes[j].mote) for i, j in pairs]
        return {way: RadioLink(0.0) for a, b in names for way in ((a, b), (b, a))}
