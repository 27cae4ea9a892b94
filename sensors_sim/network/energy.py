"""Energy: what the network has spent, in millijoules, frame by frame.

Law: a mote's account only grows; the accounts of all queries and kinds add up to what radios spent.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace


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

    @property
    def by_kind(self) -> dict[str, Account]:
        """What every kind of message has cost so far."""
        found: dict[str, Account] = {}
        for (kind, _), one in self.entries.items():
            found.setdefault(kind, Account()).add(one.frames, one.sent_bytes, one.energy_mj)
        return found

    @property
    def by_query(self) -> dict[int, Account]:
        """What every query has cost so far."""
        found: dict[int, Account] = {}
        for (_, query), one in self.entries.items():
            found.setdefault(query, Account()).add(one.frames, one.sent_bytes, one.energy_mj)
        return found

    def of_query(self, query: int) -> dict[str, Account]:
        """What the messages of one query have cost so far, by kind."""
        return {kind: replace(one) for (kind, owner), one in self.entries.items() if owner == query}
