"""What a page shows: the fold of what a socket sent it, and every state it was in on the way."""

from __future__ import annotations

from dataclasses import dataclass, field

from aspen.model.delta import Delta, accumulate


@dataclass
class Shown:
    """What a view looked like to one page, as of a log position."""

    view: str
    position: int
    rows: Delta


@dataclass(kw_only=True)
class Page:
    """Folds messages; a change that was lost or came twice is an error.

    Args:
        shown: every state of every view, in order.
        epochs: by view, the one it has.
        deltas: how many changes there were, snapshots aside.
    """

    shown: list[Shown] = field(default_factory=list)
    rows: dict[str, Delta] = field(default_factory=dict)
    epochs: dict[str, int] = field(default_factory=dict)
    deltas: int = 0

    def fold(self, view: str, message: dict) -> None:
        """Take in a snapshot or a delta of a view."""
        if message["type"] == "snapshot":
            self.rows[view] = {}
            for row in message["rows"]:
                accumulate(self.rows[view], tuple(row), 1)
        else:
            assert message["prev"] == self.epochs[view], "a change was lost or came twice"
            self.deltas += 1
            for weight, *row in message["changes"]:
                accumulate(self.rows[view], tuple(row), weight)
        self.epochs[view] = message["epoch"]
        self.shown.append(Shown(view, message["position"], dict(self.rows[view])))
