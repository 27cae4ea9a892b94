"""Energy: what the network has spent, in millijoules, frame by frame.

Law: a mote's account only grows; the accounts of all queries and kinds add up to what radios spent.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Account:
    """What something has cost so far: frames, bytes on the air, energy of senders and receivers."""

    frames: int = 0
    sent_bytes: int = 0
    energy_mj: float = 0.0

    def add(self, frames: int, sent_bytes: int, energy_mj: float) -> None:
        """Charge it."""
        self.frames += frames
        self.sent_bytes += sent_bytes
        self.energy_mj += energy_mj


@dataclass(slots=True)
class Ledger:
    """The network's books: by kind of message and by query; query 0 is the network itself."""

    entries: dict[tuple[str, int], Account] = field(default_factory=dict)

    def charge(self, kind: str, query: int, frames: int, sent_bytes: int, energy_mj: float) -> None:
        """Write one exchange into the books."""
        account = self.entries.get((kind, query))
        if account is None:
            account = self.entries[kind, query] = Account()
        account.add(frames, sent_bytes, energy_mj)

    def of_query(self, query: int) -> Account:
        """Returns what a query has cost so far."""
        total = Account()
        for (_, owner), one in self.entries.items():
            if owner == query:
                total.add(one.frames, one.sent_bytes, one.energy_mj)
        return total
