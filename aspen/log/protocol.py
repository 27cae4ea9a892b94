"""What the engine and the writers need of a log; Redis Streams keep it in the product."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from aspen.errors import AspenError
from aspen.log.entry import Entry


class LogGap(AspenError):
    """The log lacks entries it once had."""

    code = "aspen.log.gap"


class LogCompacted(AspenError):
    """Entries were asked for whose place a fold has taken."""

    code = "aspen.log.compacted"

    @classmethod
    def before(cls, position: int, after: int) -> LogCompacted:
        """Say where the log begins now, and what was asked for."""
        return cls(
            f"the entries up to {position} have been folded into one state",
            found=f"a range after {after}",
            exists=(f"ranges after {position}",),
            attempt="begin with the log's base, which holds what those entries amount to",
        )


@dataclass(frozen=True, slots=True)
class Base:
    """What the entries up to a position amount to; the log keeps it instead of them.

    Args:
        position: of the last entry in it, 0 where the log still has its first one.
        state: a lane's snapshot, empty at position 0.
    """

    position: int = 0
    state: bytes = b""


class Log(Protocol):
    """A durable, totally ordered, replayable sequence of entries; positions count from 1.

    Law: what `read` once gave for a range it gives until the range is compacted, and then `base`
    holds its fold: base and the entries after it are the whole history, always.
    """

    def append(self, entries: Sequence[Entry], key: str = "") -> int:
        """Append entries in order, all or none.

        Args:
            entries: at least one.
            key: idempotency key, "writer:…"; a second append under the same key changes nothing,
                until the writer has used some ten thousand others.

        Returns:
            The position of the last entry (of the first append under `key`).
        """
        ...

    def head(self) -> int:
        """Returns the position of the newest entry, 0 when there is none."""
        ...

    def read(self, after: int, upto: int) -> list[tuple[int, Entry]]:
        """Returns the entries at positions `after < position <= upto`, in order."""
        ...

    def base(self) -> Base:
        """Returns the fold the log begins with."""
        ...

    def compact(self, base: Base) -> None:
        """Put a fold in the place of the entries up to its position.

        A base that is not newer than the present one, or lies beyond the head, changes nothing.
        """
        ...
