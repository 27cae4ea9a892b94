"""Doubts: what a text that can run is probably not meant to do, said before it runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlglot import exp

from aspen.algebra.plan import Scan
from aspen.errors import AspenError, Position
from aspen.model.catalog import Catalog
from aspen.streamsql import Compiled
from aspen.streamsql.bind_recursion import UNPROVED_ROWS
from aspen.streamsql.errors import UnboundedRecursion
from aspen.streamsql.positions import at
from aspen.streamsql.statement import Statement
from aspen.views.products import UntiedSides, products
from federation.statistics import Statistics
from smartcis.compiling.statistics import house_statistics

LARGE_ROWS = 10_000.0
"""From here on who runs it is asked once more."""


class Doubt(AspenError, code="aspen.warning"):
    """What speaks against running a text as it stands.

    Args:
        rows: how many it gives or may give.
    """

    def __init__(self, message: str, *, rows: float, **fields: Any) -> None:
        super().__init__(message, **fields)
        self.rows = rows

    @property
    def large(self) -> bool:
        """Whether it should run only if somebody says so once more."""
        return self.rows >= LARGE_ROWS

    def as_dict(self) -> dict[str, Any]:
        """Adds how many rows to the fields of every error."""
        return {**super().as_dict(), "rows": self.rows, "large": self.large}


class CrossProduct(Doubt, code="aspen.warning.cross_product"):
    """Every row of one side meets every row of another, because no condition ties them."""


class UnprovedRecursion(Doubt, code="aspen.warning.unproved_recursion"):
    """A recursion that is not known to end: it has few rows, or ends in an error."""

    @property
    def large(self) -> bool:
        """Nobody is asked once more: its bound is enforced while it runs."""
        return False


def doubts_about(
    statement: Statement, compiled: Compiled, catalog: Catalog, known: Statistics | None = None
) -> list[Doubt]:
    """Returns what speaks against running a query as it stands.

    Args:
        known: rows by relation; counted where it is None and makes a difference.
    """
    plan = compiled.plan
    found: list[Doubt] = [_unproved(one) for one in compiled.unproved]
    if known is None:
        if not products(plan, catalog, Statistics.of(catalog)):
            return found  # counting the house takes longer than all the rest
        known = house_statistics()
    return found + [_doubt(statement, one, catalog) for one in products(plan, catalog, known)]


def _unproved(error: UnboundedRecursion) -> UnprovedRecursion:
    return UnprovedRecursion(
        f"{error.message}: it ends in an error beyond {UNPROVED_ROWS:,} rows",
        rows=float(UNPROVED_ROWS),
        position=error.position,
        found=error.found,
        exists=error.exists,
        attempt=f"{error.attempt}; or say how many rows are meant: WITH RECURSIVE (ERROR AT 500"
        " ROWS)",
    )


def _doubt(statement: Statement, product: UntiedSides, catalog: Catalog) -> CrossProduct:
    one, other = product.sides[:2]
    return CrossProduct(
        f"nothing ties {_named(one)} to {_named(other)}: every row of the one meets every row of"
        f" the other, about {product.rows:,.0f} rows",
        rows=product.rows,
        position=_position(statement.tree, other),
        found=", ".join(scan.relation for side in product.sides for scan in side),
        attempt=_condition(one, other, catalog),
    )


def _named(side: Sequence[Scan]) -> str:
    names = list(dict.fromkeys(scan.relation for scan in side))
    return " and ".join(names[:2])


def _position(tree: exp.Expr, side: Iterable[Scan]) -> Position | None:
    """Returns where the text names a side."""
    aliases = {scan.alias for scan in side}
    tables = tree.find_all(exp.Table, bfs=False)
    return next((at(one.this) for one in tables if one.alias_or_name in aliases), None)


def _condition(one: Sequence[Scan], other: Sequence[Scan], catalog: Catalog) -> str:
    """Returns what to add: columns of the same name often are the same thing."""
    for left in one:
        for right in other:
            names = catalog.get(right.relation).key or ()
            shared = {column.name for column in catalog.get(left.relation).columns}
            shared &= {column.name for column in catalog.get(right.relation).columns}
            key = [name for name in names if name in shared] or sorted(
                (name for name in shared if name.endswith(("id", "node"))), key=len
            )
            if key and left.alias != right.alias:
                pair = f"{left.alias}.{key[0]} = {right.alias}.{key[0]}"
                return f"add a condition that ties them, perhaps {pair}"
    return "add a condition that names columns of both, if you do not mean every pair"
