"""Base: the fold a log begins with, and what it says of entries that are not there."""

from __future__ import annotations

from dataclasses import dataclass

from aspen.errors import AspenError


class LogGap(AspenError, code="aspen.log.gap"):
    """The log lacks entries it once had."""


class LogCompacted(AspenError, code="aspen.log.compacted"):
    """Entries were asked for whose place a fold has taken."""

    @classmethod
    def before(cls, position: int, after: int) -> LogCompacted:
        """Say where the log begins now, and what was asked for."""
        return cls(
            f"the entries up to {position} have been folded into one state",
            found=f"a range after {after}",
            exists=(f"ranges after {position}",),
            attempt="begin with the log's base, which holds what those entries amount to",
        )


class KeyReused(AspenError, code="aspen.log.key_reused"):
    """An idempotency key under which something else was appended."""

    @classmethod
    def under(cls, key: str) -> KeyReused:
        """Returns the error, without the writer's part of the key."""
        return cls(
            "something else was sent under this idempotency key",
            found=key.rpartition(":")[2],
            attempt="use a fresh key for what is new, and a key again for the same alone",
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
