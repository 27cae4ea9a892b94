"""Changes: what is heard of a view that is watched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from smartcis.client.problem import Problem
from smartcis.client.rows import Rows, RowTuple


@dataclass(frozen=True, slots=True)
class ViewSnapshot:
    """All rows of a view; whatever was known of it before is forgotten."""

    view: str
    rows: Rows


@dataclass(frozen=True, slots=True)
class ViewDelta:
    """What has changed of a view since the change before.

    Args:
        changes: each row with how many times more the view has it; fewer where negative;
            none behind a gap in which nothing happened.
        epoch: of the engine.
        position: in the building's log.
        at_s: the log's clock there, seconds since 1970.
    """

    view: str
    changes: tuple[tuple[int, RowTuple], ...]
    epoch: int
    position: int
    at_s: float

    @property
    def added(self) -> list[RowTuple]:
        """Rows that are new, as often as they are."""
        return [row for weight, row in self.changes for _ in range(weight)]

    @property
    def removed(self) -> list[RowTuple]:
        """Rows that are gone, as often as they are."""
        return [row for weight, row in self.changes for _ in range(-weight)]


@dataclass(frozen=True, slots=True)
class ViewEnded:
    """The view has ended; should it come back, a snapshot follows."""

    view: str


@dataclass(frozen=True, slots=True)
class ViewError:
    """What the server says against a view, or the connection where it names none.

    The watch goes on: the view may recover, and what is too much now is asked for again later.
    """

    view: str
    problem: Problem


@dataclass(frozen=True, slots=True)
class ViewGap:
    """Something may have been missed; what comes next makes up for it.

    Args:
        view: empty where the connection was lost, which all views share.
        reason: one clause.
        wait_s: seconds until it is tried again.
    """

    view: str
    reason: str
    wait_s: float


ViewNews: TypeAlias = ViewSnapshot | ViewDelta | ViewEnded | ViewError | ViewGap
