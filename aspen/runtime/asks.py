"""Asks: questions why a row is in a view, answered as views that pass.

    log       Ask a ── Tick +1 s ── … ── Tick +31 s        s: log time since the question
    results   why:a opens with its rows      closes        nothing in between: it is not maintained

Law: how the log is cut into batches and where the lane restarts does not show in what is folded.
"""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

from aspen.errors import AspenError
from aspen.log.entry import Ask
from aspen.model.delta import Delta
from aspen.model.schema import Column, Type
from aspen.results.wire import encode_row
from aspen.runtime.outcome import Outcome
from aspen.runtime.views import BrokenView, Views, fields_of
from aspen.views.node import Node
from aspen.views.why import why

ANSWER = (
    Column("set", Type.INT),
    Column("relation", Type.TEXT),
    Column("row", Type.TEXT),
    Column("necessary", Type.BOOL),
    Column("complete", Type.BOOL),
)
"""One row per base row of a minimal set, sets counted from 1; `row` is a JSON array. `complete`
says whether all sets are given. No rows at all: the asked row rests on given facts alone."""

KEPT_S = 30.0
_COLUMNS = tuple((column.name, column.type.value, column.unit) for column in ANSWER)
_NAMED = 5
_SHOWN = 200


class UnknownView(AspenError):
    """A question about a view that is not maintained."""

    code = "aspen.runtime.unknown_view"


class NoSuchRow(AspenError):
    """A question about a row that the view does not hold."""

    code = "aspen.runtime.no_such_row"


def answer_name(ask: str) -> str:
    """Give the name of the transient view that answers a question."""
    return f"why:{ask}"


class Asks:
    """The questions of one lane; `open` has when each was asked, in log time."""

    def __init__(self, views: Views) -> None:
        self._views = views
        self.open: dict[str, float] = {}

    def names(self) -> list[str]:
        """Give the transient views that somebody may be reading."""
        return [answer_name(ask) for ask in self.open]

    def answer(self, entry: Ask, outcome: Outcome, latest_s: float) -> None:
        """Answer a question, between two epochs; one that is open already is not asked again.

        Args:
            latest_s: the latest tick that follows in the same batch. An answer that it ends is
                not computed: a rebuild from an old log would answer all questions ever asked.
        """
        if entry.ask in self.open:
            return
        self.open[entry.ask] = entry.at_s
        if latest_s > entry.at_s + KEPT_S:
            return
        name = answer_name(entry.ask)
        try:
            outcome.open(name, _COLUMNS, self._rows(entry))
        except Exception as error:  # noqa: BLE001 - no question may stop the lane
            outcome.fail(name, fields_of(error), {})

    def expire(self, now_s: float, outcome: Outcome, known: Collection[str]) -> None:
        """Close the answers to questions of more than 30 s ago.

        Args:
            known: views that were there before this batch.
        """
        for ask in [ask for ask, at_s in self.open.items() if now_s > at_s + KEPT_S]:
            del self.open[ask]
            outcome.close(answer_name(ask), known=answer_name(ask) in known)

    def _rows(self, entry: Ask) -> Delta:
        node = self._node(entry.view)
        try:
            found = why(node, entry.row)
        except KeyError as error:
            view = self._views.by_name[entry.view]
            raise NoSuchRow(
                f"view {entry.view} has no such row now",
                found=encode_row(entry.row)[:_SHOWN],
                exists=[f"{name} {kind}" for name, kind, _ in view.columns],
                attempt="take a row the view holds; it may have changed in the meantime",
            ) from error
        # Sorted: the order of equally small sets depends on how the circuits came to be.
        sets = sorted(
            (
                sorted((relation, encode_row(row)) for relation, row in members)
                for members in found.sets
            ),
            key=lambda members: (len(members), members),
        )
        needed = {(relation, encode_row(row)) for relation, row in found.necessary}
        return {
            (number, *base, base in needed, found.complete): 1
            for number, members in enumerate(sets, start=1)
            for base in members
        }

    def _node(self, name: str) -> Node:
        view = self._views.by_name.get(name)
        if view is None:
            names = sorted(self._views.by_name)
            raise UnknownView(
                f"there is no view {name[:60]!r}",
                found=name[:60],
                exists=get_close_matches(name, names, n=_NAMED) or names[:_NAMED],
                attempt="ask about a view that is maintained",
            )
        if view.node is None:
            raise BrokenView(
                f"view {name} is not maintained, so it holds no rows",
                found=name,
                attempt=f"mend {name} first",
            )
        return view.node
