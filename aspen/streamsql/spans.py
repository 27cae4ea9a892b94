"""Offsets in the user's text → positions an editor can underline."""

from __future__ import annotations

from bisect import bisect_right

from sqlglot import exp

from aspen.errors import Position


class Spans:
    """Finds where in a text a piece of sqlglot's tree stood.

    Args:
        text: the user's text, as given.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(i + 1 for i, letter in enumerate(text) if letter == "\n")]

    def position(self, start: int, end: int) -> Position:
        """Returns the position of `text[start:end]`, cut at the end of its first line."""
        start = min(start, len(self.text))
        line = bisect_right(self._starts, start)
        column = start - self._starts[line - 1] + 1
        piece = self.text[start:end].split("\n", maxsplit=1)[0].rstrip()
        return Position(line, column, max(1, len(piece)))

    def of(self, node: exp.Expr) -> Position:
        """Returns the span of a tree: from its first to its last known token."""
        metas = [found.meta for found in node.walk() if found.meta and "start" in found.meta]
        if not metas:
            return Position(1, 1)
        return self.position(min(m["start"] for m in metas), max(m["end"] for m in metas) + 1)

    def head(self, node: exp.Expr) -> Position:
        """Returns the span of a node's own token, or of its tree where it has none."""
        if node.meta and "start" in node.meta:
            return self.position(node.meta["start"], node.meta["end"] + 1)
        return self.of(node)
