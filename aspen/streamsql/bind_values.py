"""VALUES: rows of constants, one type per column."""

from __future__ import annotations

from functools import reduce

from aspen.algebra.evaluate import compile_expr
from aspen.algebra.expr import Const
from aspen.algebra.plan import Values
from aspen.model.schema import Column, Type
from aspen.streamsql.ast import ValuesQuery
from aspen.streamsql.bind_expr import ExpressionBinder
from aspen.streamsql.errors import UnionArity
from aspen.streamsql.scope import Scope
from aspen.streamsql.typing_rules import Typed, meeting, widened


def bind_values(query: ValuesQuery) -> Values:
    """Bind VALUES; the columns are called column1, column2, ….

    Raises:
        UnionArity: rows of different lengths.
        TypeMismatch: values of one column whose types do not meet.
    """
    binder = ExpressionBinder(Scope({}))
    rows = [[binder.bind(value) for value in row] for row in query.rows]
    width = len(rows[0])
    for row, written in zip(rows, query.rows, strict=True):
        if len(row) != width:
            raise UnionArity(
                f"a row of VALUES has {len(row)} values, the first has {width}",
                position=written[0].at if written else query.at,
                found=str(len(row)),
                exists=(str(width),),
                attempt="give every row the same number of values",
            )
    shared = [reduce(_shared, column) for column in zip(*rows, strict=True)]
    columns = tuple(
        Column(f"column{number}", typed.type or Type.TEXT, typed.unit, typed.nullable)
        for number, typed in enumerate(shared, start=1)
    )
    return Values(
        columns,
        tuple(
            tuple(_constant(value, column) for value, column in zip(row, columns, strict=True))
            for row in rows
        ),
    )


def _shared(one: Typed, other: Typed) -> Typed:
    kind, unit = meeting(one, other, "list together")
    return Typed(one.expr, kind, unit, one.nullable or other.nullable, other.at)


def _constant(value: Typed, column: Column) -> Const:
    return Const(compile_expr(widened(value.expr, value.type, column.type), ())(()))
