"""LEFT, RIGHT and FULL JOIN → the joined rows, and those without a partner beside nulls."""

from __future__ import annotations

from typing import Protocol

from aspen.algebra.expr import Col, Const, Expr, Op, columns_in, conjunction
from aspen.algebra.plan import AntiJoin, Filter, OuterJoin, Plan, Project, Union
from aspen.model.schema import Column
from aspen.streamsql.bound import BoundFrom, OuterSource
from aspen.streamsql.domain import Domain
from aspen.streamsql.free import free_in_from


class _Builder(Protocol):
    def origin(self, origin: BoundFrom, domain: Domain | None) -> Plan: ...
    def apart(self, plan: Plan, domain: Domain) -> tuple[Plan, tuple[tuple[str, str], ...]]: ...


def outer_join(builder: _Builder, source: OuterSource, domain: Domain | None) -> Plan:
    """Returns the plan of an outer join.

    Law: FULL == LEFT, and what the right has no partner for beside nulls.
    """
    given = () if domain is None else domain.columns
    left = builder.origin(source.left, domain)
    pairs: list[tuple[str, str]] = []
    if domain is not None and (source.kind != "LEFT" or free_in_from(source.right)):
        right, found = builder.apart(builder.origin(source.right, domain), domain)
        pairs += found
    else:
        right = builder.origin(source.right, None)
    lefts = {column.name for column in left.columns}
    rights = {column.name for column in right.columns}
    residual: list[Expr] = []
    for expr in source.on:
        match expr:
            case Op("=", Col(one), Col(other)) if one in lefts and other in rights:
                pairs.append((one, other))
            case Op("=", Col(one), Col(other)) if one in rights and other in lefts:
                pairs.append((other, one))
            case _ if source.kind == "LEFT" and columns_in(expr) <= rights:
                right = Filter(right, expr)
            case _:
                residual.append(expr)
    on, over = tuple(dict.fromkeys(pairs)), conjunction(residual)
    columns = given + source.columns
    if source.kind == "LEFT":
        return _padded(OuterJoin(left, right, on, over), columns, {})
    swapped = tuple((other, one) for one, other in on)
    # A right row without a partner still belongs to its values of the domain.
    known = {one: other for one, other in pairs if one in {c.name for c in given}}
    if source.kind == "RIGHT":
        return _padded(OuterJoin(right, left, swapped, over), columns, known)
    whole = _padded(OuterJoin(left, right, on, over), columns, {})
    return Union((whole, _padded(AntiJoin(right, left, swapped, over), columns, known)))


def _padded(plan: Plan, columns: tuple[Column, ...], known: dict[str, str]) -> Plan:
    existing = {column.name for column in plan.columns}
    outputs: list[tuple[Column, Expr]] = []
    for column in columns:
        name = known.get(column.name, column.name)
        outputs.append((column, Col(name) if name in existing else Const(None)))
    return Project(plan, tuple(outputs))
