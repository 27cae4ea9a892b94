"""Row order: how the rows of a query with ORDER BY are shown; a maintained view has no order.

view      host, free │ order_by_1        what the engine keeps
order     keys: order_by_1 falling, width 2
shown     host, free                     sorted, without what only the order needs
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from aspen.algebra.order import row_order
from aspen.algebra.plan import SortKey
from aspen.model.delta import Delta
from aspen.model.schema import Column, Row, Type
from aspen.streamsql import Compiled

Order = Mapping[str, Any]
"""As `MaintainedQuery.order` keeps it."""


def order_of(compiled: Compiled) -> dict[str, Any] | None:
    """Returns a query's order, None where its text does not say."""
    if compiled.order is None:
        return None
    keys = [[key.column, key.descending, key.nulls_last] for key in compiled.order.keys]
    return {"keys": keys, "width": compiled.order.width}


def whole(compiled: Compiled) -> Compiled:
    """Returns a query with the columns that only its order needs, behind its own."""
    if compiled.order is None:
        return compiled
    plan = compiled.order.plan
    columns = tuple(Column(c.name.split(".")[-1], c.type, c.unit, c.nullable) for c in plan.columns)
    return replace(compiled, plan=plan, relation=replace(compiled.relation, columns=columns))


def in_order(
    rows: Delta, columns: Sequence[tuple[str, str, str]], order: Order | None
) -> list[Row]:
    """Returns a view's rows as they are shown, each as often as its weight says.

    Args:
        columns: of the view: name, type and unit.
    """
    found = [row for row, weight in rows.items() for _ in range(weight)]
    if order is None:
        return found
    names = [Column(name, Type(kind), unit) for name, kind, unit in columns]
    keys = [SortKey(*key) for key in order["keys"]]
    width: int = order["width"]
    return [row[:width] for row in sorted(found, key=row_order(keys, names))]
