"""Exhaust: every way and every place of every group of partners, on fields small enough to try all.

Groups that share no sensor do not disturb each other where no frame is lost: what a room's groups
take at some places is what they add to a join that otherwise happens at the base. So rooms are
tried one by one, and the least sums add up to the least of all combinations.

What is tried is judged in hindsight, while the optimizer goes by the shares of a whole stream. Each
sensor therefore measures its range evenly: choices are compared, not the luck of a few samples.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

from aspen.algebra.device_block import device_block
from aspen.components import connected_groups
from federation.estimate import Estimate, estimate
from federation.network import BASE, Network
from federation.pairing import Group, candidates, groups_of, sensors_of
from sensors_sim.innet.program import Method
from sensors_sim.motes import Field
from sensors_sim.network.links import Radio
from tests.bench.federation_field import Asked
from tests.bench.federation_measure import Bed
from tests.bench.federation_ways import Piece, Way, chosen, ways

EPOCHS = 20
MOST_COMBINATIONS = 1_300  # per room: four groups of six places
AT_ONCE = 120  # queries tried side by side; motes hold 255
Places = Mapping[tuple[str, ...], str]


@dataclass(frozen=True)
class Exhausted:
    """What was found.

    Args:
        chosen_mj: of the optimizer's way, per epoch.
        best_mj: the least of all.
        tried: ways and combinations of places.
    """

    query: str
    chosen: str
    chosen_mj: float
    best: str
    best_mj: float
    tried: int

    @property
    def ratio(self) -> float:
        """How much more the chosen way took."""
        return self.chosen_mj / self.best_mj

    @property
    def figures(self) -> dict[str, Any]:
        """For the report."""
        return {
            "query": self.query,
            "chosen": self.chosen,
            "energy_mj": round(self.chosen_mj, 2),
            "best": self.best,
            "best_energy_mj": round(self.best_mj, 2),
            "tried": self.tried,
        }

    def __str__(self) -> str:
        return (
            f"{self.chosen} {self.chosen_mj:.2f} mJ, best of {self.tried}: {self.best} "
            f"{self.best_mj:.2f} mJ"
        )


def exhaust(field: Field, model: Radio, asked: Asked, period_s: float) -> Exhausted:
    """Try everything.

    Args:
        model: of links that lose nothing.
    """
    bed = Bed(field, model, period_s, EPOCHS, even=True)
    known = bed.statistics()
    taken, every = chosen(asked, known), ways(asked)
    pieces = {piece.text: piece for way in (*every, taken) for piece in way.pieces}
    estimates = {
        text: estimate(piece.plan, period_s, piece.method.name.lower(), known)
        for text, piece in pieces.items()
    }
    measured = bed.measure(pieces.values(), estimates)

    def energy_mj(way: Way) -> float:
        return sum(measured[piece.text].energy_mj for piece in way.pieces)

    least = min(every, key=energy_mj)
    best, best_mj, tried = least.name, energy_mj(least), len(every)
    for way in every:
        for piece in way.pieces:
            if piece.method is not Method.PAIRWISE:
                continue
            alone_mj, count = _placed(bed, piece, estimates[piece.text])
            tried += count
            found_mj = alone_mj + sum(
                measured[one.text].energy_mj for one in way.pieces if one != piece
            )
            if found_mj < best_mj:
                best, best_mj = f"{way.name}, places by trial", found_mj
    return Exhausted(asked.name, taken.name, energy_mj(taken), best, best_mj, tried)


def _placed(bed: Bed, piece: Piece, known: Estimate) -> tuple[float, int]:
    """Returns the least a join takes with its groups at any places, and how many were tried."""
    network = bed.network()
    rooms = connected_groups(_groups(piece, network), sensors_of)
    tries: list[Places] = [{}]
    begins = []
    for room in rooms:
        begins.append(len(tries))
        options = [candidates(group, network) for group in room]
        tries += [
            {
                tuple(device.sid for device in group): place
                for group, place in zip(room, places, strict=True)
                if place != BASE
            }
            for places in islice(product(*options), MOST_COMBINATIONS)
        ]
    took = [
        mj
        for begin in range(0, len(tries), AT_ONCE)
        for mj in bed.measure_places(piece, known, tries[begin : begin + AT_ONCE])
    ]
    at_base = took[0]
    ends = [*begins[1:], len(tries)]
    gains = [min(took[begin:end]) - at_base for begin, end in zip(begins, ends, strict=True)]
    return at_base + sum(gains), len(tries)


def _groups(piece: Piece, network: Network) -> list[Group]:
    block = device_block(piece.plan, network.lasts)
    return groups_of(block, [network.of(one.relation) for one in block.scans])
