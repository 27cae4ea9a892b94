"""A walk: the way to the nearest of what one looks for, kept current while somebody walks it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from time import monotonic, sleep
from typing import TYPE_CHECKING, Self

from smartcis.client.changes import ViewEnded, ViewError, ViewGap
from smartcis.client.fold import Fold
from smartcis.client.problem import Problem
from smartcis.client.rows import Cell, Rows
from smartcis.client.typed import typed

if TYPE_CHECKING:
    from smartcis.client.server import SmartCIS

TARGETS, STEPS = "nearest_destination", "route_step"
MOST_ROWS = 10_000
LOOK_EVERY_S = 0.1
MM_PER_M = 1_000


@dataclass(frozen=True, slots=True)
class WalkEntry:
    """What was asked for.

    Args:
        session: of the walk.
        node: the walking point it begins at.
        goal: free-machine:LaTeX, machine:<mid>, room:<rid>, or the slug of a destination.
        step_free: whether without stairs.
    """

    session: str
    node: int
    goal: str
    step_free: bool


@dataclass(frozen=True, slots=True)
class WalkStep:
    """A walking point on the way.

    Args:
        walked_m: from the beginning to here.
    """

    node: int
    walked_m: float
    level_id: str
    x_m: float
    y_m: float


@dataclass(frozen=True, slots=True)
class WalkAnswer:
    """The way at one moment.

    Args:
        target: the machine or room; None where nothing that answers can be reached.
        length_m: of the way.
        steps: from the beginning to the target.
    """

    target: str | None
    length_m: float
    steps: tuple[WalkStep, ...]


NOWHERE = WalkAnswer(None, 0.0, ())


class RunningWalk:
    """A handle on a walk; as a context manager it ends the walk when it is left.

    Args:
        server: that answers it.
        entry: what was asked for.
    """

    def __init__(self, server: SmartCIS, entry: WalkEntry) -> None:
        self._server = server
        self.entry = entry

    def answer(self) -> WalkAnswer:
        """Returns the way, at or after the moment of this call.

        Raises:
            Problem: the engine does not come so far in time.
        """
        head = self._server.status().head
        until_s = monotonic() + self._server.rest.patience_s
        while True:
            found = None
            if self._server.status().position >= head:
                targets, steps = (self._server.rows(name, MOST_ROWS) for name in (TARGETS, STEPS))
                found = self._way(targets, steps)
            if found is not None:
                return found
            if monotonic() > until_s:
                raise Problem(
                    "the engine has not answered the walk yet",
                    code="smartcis.client.no_way_yet",
                    attempt="see the status of the engine",
                )
            sleep(LOOK_EVERY_S)

    def watch(self) -> Iterator[WalkAnswer | ViewGap | ViewError]:
        """Walks the ways as they change: taken machines, locked doors, and the walk moved.

        A connection that is lost is told as a gap; what has changed meanwhile comes behind it.
        """
        folds, last = {TARGETS: Fold(), STEPS: Fold()}, NOWHERE
        for news in self._server.watch(TARGETS, STEPS):
            if isinstance(news, ViewGap | ViewError):
                yield news
            elif not isinstance(news, ViewEnded):
                folds[news.view].take(news)
                found = self._way(folds[TARGETS].rows, folds[STEPS].rows)
                if found is not None and found != last:
                    last = found
                    yield found

    def move(
        self,
        from_: int | str | None = None,
        to: str | None = None,
        *,
        step_free: bool | None = None,
    ) -> None:
        """Changes what is asked for; what is left out stays.

        Args:
            from_: as of `SmartCIS.route`.
            to: goal.
            step_free: whether without stairs.
        """
        wanted = {
            "node": None if from_ is None else self._server.node_of(from_),
            "goal": to,
            "step_free": step_free,
        }
        body = {name: value for name, value in wanted.items() if value is not None}
        path = f"routes/{self.entry.session}/"
        self.entry = typed(WalkEntry, self._server.rest.call("PATCH", path, body=body, twice=True))

    def end(self) -> None:
        """Ends the walk."""
        self._server.rest.call("DELETE", f"routes/{self.entry.session}/", twice=True)

    def _way(self, targets: Rows, steps: Rows) -> WalkAnswer | None:
        """Returns the way in the rows of two views; None where they are of different moments."""
        found = [one for one in targets.mappings() if one["session"] == self.entry.session]
        path = [_step(one) for one in steps.mappings() if one["session"] == self.entry.session]
        if not found:
            return None if path else NOWHERE
        first, last = self.entry.node, found[0]["node"]
        # Points may lie at no distance from each other; the ends are known.
        path.sort(key=lambda step: (step.walked_m, step.node != first, step.node == last))
        if not path or (path[0].node, path[-1].node) != (first, last):
            return None
        return WalkAnswer(str(found[0]["target"]), path[-1].walked_m, tuple(path))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.end()


def _step(row: Mapping[str, Cell]) -> WalkStep:
    walked_m = float(row["cost_mm"] or 0) / MM_PER_M
    body = {name: row[name] for name in ("node", "level_id", "x_m", "y_m")}
    return typed(WalkStep, {**body, "walked_m": walked_m})
