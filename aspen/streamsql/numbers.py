"""Numbers as they are written in a query."""

from __future__ import annotations

from sqlglot import exp

from aspen.model.schema import INT_MOST
from aspen.streamsql.errors import SyntaxRefused
from aspen.streamsql.positions import at


def number(tree: exp.Literal) -> int | float:
    """Returns a number as it is written.

    Raises:
        SyntaxRefused: one that no column can hold.
    """
    text = str(tree.this)
    # The least INT has no positive one.
    negated = isinstance(tree.parent, exp.Neg)
    try:
        found = int(text) if text.isdigit() else float(text)
    except ValueError:
        found = float("inf")
    if abs(found) > (INT_MOST + negated if isinstance(found, int) else 1.7e308):
        raise SyntaxRefused(
            "the number is too large",
            position=at(tree),
            found=text[:40],
            attempt=f"whole numbers go up to {INT_MOST}",
        )
    return found
