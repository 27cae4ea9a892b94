"""What the sink writes after each epoch, and what a reader can ask of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from aspen.model.delta import Delta
from aspen.model.schema import Row


@dataclass(frozen=True, slots=True)
class ViewChange:
    """What one epoch did to one view.

    Args:
        view: the view's id.
        delta: rows with signed weights; may be empty when only `columns` or `error` is news.
        columns: name and type and unit of each column, given with the first change.
        closed: the view was unregistered; its rows are gone.
        error: the fields of `AspenError.as_dict` when the view cannot be maintained.
    """

    view: str
    delta: Delta = field(default_factory=dict)
    columns: tuple[tuple[str, str, str], ...] = ()
    closed: bool = False
    error: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Epoch:
    """One micro-batch's outcome.

    Args:
        number: counts from 1 without gaps, the sequence number clients see.
        position: log position up to which every view is the fold of the log.
        at_s: log time at that position.
        changes: views that changed, only those.
        timing_ms: milliseconds per border, for `bench latency`.
    """

    number: int
    position: int
    at_s: float
    changes: tuple[ViewChange, ...]
    timing_ms: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A view's rows as of an epoch (weights are the bag's multiplicities)."""

    view: str
    epoch: int
    position: int
    at_s: float
    columns: tuple[tuple[str, str, str], ...]
    rows: Mapping[Row, int]
    error: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Savepoint:
    """Where one writer of a store ends, so that another may go on.

    Args:
        generation: of the writer that ended.
        position: log position up to which it has told everything.
    """

    generation: str
    position: int


class Results(Protocol):
    """The snapshot store.

    Law: a snapshot equals the fold of all changes up to its epoch; `write` of a batch seen
    before changes nothing.
    """

    def write(
        self,
        generation: str,
        batch: int,
        position: int,
        at_s: float,
        changes: Sequence[ViewChange],
        timing_ms: Mapping[str, float],
    ) -> int:
        """Apply one batch atomically and announce it.

        Args:
            generation: identity of the checkpoint; a new one empties the store first.
            batch: Spark's batch id, ascending within a generation.

        Returns:
            The epoch number the batch has (also when it was seen before).
        """
        ...

    def hand_over(self, savepoint: Savepoint, generation: str, batch: int) -> None:
        """Let another generation go on from a savepoint; rows and epochs stay as they are.

        Args:
            batch: of that generation, after which its first write comes.

        Raises:
            NotThere: the store does not stand at that savepoint.
        """
        ...

    def snapshot(self, view: str) -> Snapshot | None:
        """Returns a view's rows, None when no such view is maintained."""
        ...

    def views(self) -> list[str]:
        """Returns the ids of all maintained views."""
        ...

    def epochs_since(self, number: int, wait_s: float) -> Iterator[Epoch]:
        """Returns the epochs after `number` in order, waiting up to `wait_s` for the first.

        Raises:
            EpochsForgotten: `number` is older than what is kept; take a snapshot.
        """
        ...
