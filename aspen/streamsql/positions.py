"""Positions: where the text says each node of sqlglot's tree, kept in the nodes' metadata.

The pass that finds them also makes equal things equal: names are folded to lower case unless they
are quoted, and brackets go, as the tree itself says what belongs together.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TypeVar

from sqlglot import exp

from aspen.errors import Position
from aspen.streamsql.dialect import StreamWindow
from aspen.streamsql.dialect_alarm import Notified
from aspen.streamsql.dialect_statements import OutputTarget
from aspen.streamsql.errors import Unsupported

_Node = TypeVar("_Node", bound=exp.Expr)

NOWHERE = Position(1, 1)
_CALLS = frozenset(
    {"current_date", "current_time", "current_timestamp", "localtime", "localtimestamp"}
)
"""Functions that are called without brackets."""
_DEEPEST = 100
_HEADED = (exp.Anonymous, Notified, OutputTarget, StreamWindow)
"""Nodes that an error underlines by their own word, not with all that stands in them."""


def at(node: exp.Expr) -> Position:
    """Returns where the text says a node."""
    found: Position = node.meta.get("at", NOWHERE)
    return found


def whole(node: exp.Expr) -> Position:
    """Returns where a node stands with everything in it."""
    found: Position = node.meta.get("whole") or at(node)
    return found


def placed(node: _Node, position: Position) -> _Node:
    """Returns a node that is said to stand somewhere: one that no text has."""
    node.meta["at"] = position
    return node


class Positions:
    """Finds positions in one text."""

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

    def annotate(self, tree: exp.Expr) -> exp.Expr:
        """Write its position to every node of a statement, fold names and take brackets out.

        Raises:
            Unsupported: it is nested deeper than Python's stack allows later walks.
        """
        for part in (tree, *(tree.meta.get("outputs") or ())):
            nodes = list(part.walk(bfs=False))
            spans: dict[int, tuple[int, int]] = {}
            # Children come before their parents.
            for node in reversed(nodes):
                self._place(node, spans)
            _check_depth(nodes)
            for node in reversed(nodes):
                _normalize(node)
        return tree

    def _place(self, node: exp.Expr, spans: dict[int, tuple[int, int]]) -> None:
        meta = node.meta
        inside = [span for child in node.iter_expressions() if (span := spans.get(id(child)))]
        own = (meta["start"], meta["end"] + 1) if type(meta.get("start")) is int else None
        inside += [own] if own is not None else []
        if not inside:
            return
        spans[id(node)] = (min(start for start, _ in inside), max(end for _, end in inside))
        meta["at"] = meta["whole"] = self.position(*spans[id(node)])
        if own is not None and isinstance(node, _HEADED):
            meta["at"] = self.position(*own)


def _normalize(node: exp.Expr) -> None:
    if isinstance(node, exp.Paren) and not node.this.is_star:
        node.replace(node.this)
    elif isinstance(node, exp.Identifier):
        quoted = node.args.get("quoted")
        name = str(node.this) if quoted else str(node.this).lower()
        node.set("this", name)
        node.set("quoted", not (name.isidentifier() and name == name.lower()))
        column = node.parent
        if not quoted and name in _CALLS and isinstance(column, exp.Column) and not column.table:
            column.replace(placed(exp.Anonymous(this=name), at(column)))
    elif isinstance(node, exp.Anonymous):
        node.set("this", node.name.lower())


def _check_depth(nodes: list[exp.Expr]) -> None:
    """Refuse a tree whose expressions or queries are nested too deeply; chains of AND are flat."""
    depths: dict[int, tuple[int, int]] = {}
    for node in nodes:
        parent = node.parent
        expressions, queries = depths.get(id(parent), (0, 0))
        if isinstance(node, exp.Query) and not isinstance(node, exp.Subquery):
            queries += 1
        elif isinstance(node, exp.Condition) and not isinstance(node, exp.If):
            linked = isinstance(node, exp.And | exp.Or) and type(parent) is type(node)
            expressions += not linked
        depths[id(node)] = (expressions, queries)
        if expressions > _DEEPEST:
            raise Unsupported(
                "the expression is nested too deeply",
                position=whole(node),
                attempt="compute parts of it in a CTE or a view",
            )
        if queries > _DEEPEST:
            raise Unsupported(
                "StreamSQL has no nesting this deep",
                position=whole(node),
                found="nesting this deep",
                attempt="split it into views",
            )
