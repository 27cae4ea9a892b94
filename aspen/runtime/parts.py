"""Parts: what several lanes say of one view in one batch, put together.

    lane 0    +a −b          ┐
    lane 1    +c    error    ┘ ──►   +a −b +c, error

Law:    the fold of the merged changes is that of one lane that keeps everything.
Where a lane cannot keep its part, the view is in error and the parts of the others stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from aspen.model.delta import Delta, merge
from aspen.results.protocol import ViewChange


def merge_parts(lanes: Iterable[Sequence[ViewChange]]) -> list[ViewChange]:
    """Returns one change per view, and its end before it where it ended and came back."""
    closed: dict[str, None] = {}
    found: dict[str, list[ViewChange]] = {}
    for changes in lanes:
        for change in changes:
            if change.closed:
                closed[change.view] = None
            else:
                found.setdefault(change.view, []).append(change)
    ended = [ViewChange(view, closed=True) for view in closed]
    return ended + [_merged(view, parts) for view, parts in found.items()]


def _merged(view: str, parts: Sequence[ViewChange]) -> ViewChange:
    delta: Delta = {}
    for part in parts:
        merge(delta, part.delta)
    columns = next((part.columns for part in parts if part.columns), ())
    error = next((part.error for part in parts if part.error is not None), None)
    return ViewChange(view, delta, columns, error=error)
