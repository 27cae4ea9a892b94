"""What the sink writes after each epoch, and what readers are given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aspen.model.delta import Delta
from aspen.model.schema import Row


@dataclass(frozen=True)
class ViewChange:
    """What one epoch did to one view.

    Args:
        view: the view's id.
        delta: rows with signed weights; may be empty when only `columns` or `error` is news.
        columns: name and type and unit of each column, given with the first change.
        closed: the view was unregistered; its rows are gone.
        error: the fields of `AspenError.as_dict` when the view cannot be maintained.
        complete_since_s: given with `columns`: log time since which nothing is missing of what
            windows reach back to; None where nothing is missing at all.
    """

    view: str
    delta: Delta = field(default_factory=dict)
    columns: tuple[tuple[str, str, str], ...] = ()
    closed: bool = False
    error: Mapping[str, Any] | None = None
    complete_since_s: float | None = None

    @property
    def size(self) -> int:
        """How many different rows came or went."""
        return len(self.delta)


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
class EpochSnapshot:
    """A view's rows as of an epoch (weights are the bag's multiplicities).

    Args:
        complete_since_s: see `ViewChange`.
    """

    view: str
    epoch: int
    position: int
    at_s: float
    columns: tuple[tuple[str, str, str], ...]
    rows: Mapping[Row, int]
    error: Mapping[str, Any] | None = None
    complete_since_s: float | None = None


@dataclass(frozen=True, slots=True)
class Savepoint:
    """Where one writer of a store ends, so that another may go on.

    Args:
        generation: of the writer that ended.
        position: log position up to which it has told everything.
    """

    generation: str
    position: int
