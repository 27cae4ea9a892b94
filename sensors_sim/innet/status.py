"""Status: what a mote tells the base about itself, and the way its report took."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from aspen.motes.protocol import FAIR_ETX
from sensors_sim.innet.values import counts, read_counts
from sensors_sim.network.mote import Mote
from sensors_sim.network.packet import Packet

NEAR_MOTES = 12  # told of; two bytes each


@dataclass(frozen=True, slots=True)
class MoteStatus:
    """The last that was heard of a mote.

    Args:
        parent: name of the mote it sends to.
        energy_mj: spent since it was switched on, as it reckons itself.
        hops: links to its base station.
        link_quality: 1 / expected transmissions to its parent, 0 to 1.
        at_s: when the base heard it.
        path: names from the mote to the base station.
        near: names of the motes it hears so well that it speaks to them past the tree.
    """

    mote: str
    parent: str
    energy_mj: float
    hops: int
    link_quality: float
    at_s: float
    path: tuple[str, ...]
    near: tuple[str, ...] = ()


def write_status(mote: Mote, now_s: float) -> bytes:
    """Write a mote's status: tenths of a joule, hundredths of a transmission, good neighbours."""
    parent = mote.neighbours.get(mote.parent)
    heard = sorted((known.etx, index) for index, known in mote.neighbours.items())
    return counts(
        round(mote.energy_mj(now_s) / 100.0),
        round(100.0 * parent.etx) if parent is not None else 0,
        *(index for etx, index in heard[:NEAR_MOTES] if etx < FAIR_ETX),
    )


def read_near(packet: Packet) -> tuple[int, ...]:
    """Returns the neighbours a status tells of, by index."""
    return tuple(read_counts(packet.payload)[2:])


def read_status(packet: Packet, name: Callable[[int], str], at_s: float) -> MoteStatus:
    """Read a status that has reached the base, with the route it recorded."""
    energy, tries, *near = read_counts(packet.payload)
    etx = tries / 100.0
    path = tuple(name(index) for index in packet.path or ())
    return MoteStatus(
        name(packet.origin),
        path[1],
        energy * 100.0,
        packet.hops,
        round(1.0 / etx, 3) if etx else 0.0,
        at_s,
        path,
        tuple(map(name, near)),
    )
