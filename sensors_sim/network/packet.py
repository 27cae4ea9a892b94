"""Packets: what travels between motes; payloads are real bytes, headers are only counted."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum


class PacketKind(Enum):
    """What a packet is for; the value names it in traces and accounts."""

    BEACON = "beacon"  # routing and dissemination, to all who hear
    PROGRAM = "program"  # a fragment on its way out, to all who hear
    KEYS = "keys"  # join keys or a Bloom filter on its way out, to all who hear
    ASSIGN = "assign"  # where to join, base → mote
    CONFIRM = "confirm"  # an assignment has arrived, mote → base
    STATUS = "status"  # battery and way to the base, mote → base
    ROW = "row"  # rows of an answer, mote → base
    SHIP = "ship"  # one side of a join, mote → node of the join
    PARTIAL = "partial"  # a partial state record, mote → parent


# A lost acknowledgement would let a second parent count the same record again.
ONCE_ONLY = frozenset({PacketKind.PARTIAL})


@dataclass(slots=True)
class Packet:
    """A packet that goes up the tree, or to a mote by name.

    Args:
        query: whom it is charged to; 0 for the network itself.
        origin: index of the mote that made it.
        number: counts the origin's packets; one byte on the air.
        payload: without headers.
        version: of the query; its last byte is on the air.
        target: index of the mote it is for; −1 for any base station.
        hops: links crossed so far.
        path: motes crossed so far, if it records its route: two bytes each.
        detours: parents that failed it.
    """

    kind: PacketKind
    query: int
    origin: int
    number: int
    payload: bytes
    version: int = 0
    target: int = -1
    hops: int = 0
    path: list[int] | None = None
    detours: int = 0
    cost: float = field(default=0.0)

    @property
    def payload_bytes(self) -> int:
        """Bytes after the headers."""
        return (
            len(self.payload)
            + (0 if self.path is None else 2 * len(self.path))
            + (0 if self.target < 0 else 2)
        )

    def copied(self) -> Packet:
        """Returns what the next mote holds: its own copy."""
        return Packet(
            self.kind,
            self.query,
            self.origin,
            self.number,
            self.payload,
            self.version,
            self.target,
            self.hops + 1,
            None if self.path is None else list(self.path),
            self.detours,
            self.cost,
        )
