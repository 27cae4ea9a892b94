"""VALUES, and series that are VALUES written short: rows of constants, one type per column."""

from __future__ import annotations

from functools import reduce

from sqlglot import exp

from aspen.algebra.evaluate import compile_expr
from aspen.algebra.expr import Const
from aspen.algebra.plan import Values
from aspen.model.schema import Column, Type
from aspen.streamsql.bind_expr import ExpressionBinder
from aspen.streamsql.errors import UnionArity
from aspen.streamsql.positions import at, whole
from aspen.streamsql.scope import Scope
from aspen.streamsql.tree import constant, unsupported
from aspen.streamsql.typing_rules import Typed, meeting, widened

_LONGEST_SERIES = 100_000


def bind_values(tree: exp.Expr) -> Values:
    """Bind VALUES; the columns are called column1, column2, ….

    Raises:
        UnionArity: rows of different lengths.
        TypeMismatch: values of one column whose types do not meet.
    """
    binder = ExpressionBinder(Scope({}))
    written = [row.expressions if isinstance(row, exp.Tuple) else [row] for row in tree.expressions]
    rows = [[binder.bind(value) for value in row] for row in written]
    width = len(rows[0])
    for row, spoken in zip(rows, written, strict=True):
        if len(row) != width:
            raise UnionArity(
                f"a row of VALUES has {len(row)} values, the first has {width}",
                position=at(spoken[0]) if spoken else whole(tree),
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


def bind_series(tree: exp.Table) -> Values:
    """Write out `range(n)` and `generate_series(a, b)`: whole numbers, one per row.

    Raises:
        Unsupported: another call, or what is no series of constants.
    """
    call = tree.this.name
    given = [constant(part) for part in tree.this.expressions]
    numbers = [v.value for v in given if v is not None and type(v.value) is int]
    known = call in ("range", "generate_series") and len(numbers) == len(given)
    if not known or not 1 <= len(numbers) <= 3 or numbers[2:] == [0]:  # noqa: PLR2004 - a, b, step
        what = f"{call.upper()} in FROM"
        raise unsupported(what, tree, "range(10), generate_series(1, 10), or VALUES")
    start, stop = (0, numbers[0]) if len(numbers) == 1 else numbers[:2]
    step = numbers[2] if len(numbers) == 3 else 1  # noqa: PLR2004 - as above
    if call == "generate_series":
        stop += 1 if step > 0 else -1
    series = range(start, stop, step)
    if len(series) > _LONGEST_SERIES:
        raise unsupported("series this long", tree, f"at most {_LONGEST_SERIES:,} rows")
    # A series without rows still has its column: no rows of one.
    if not series:
        raise unsupported("empty series", tree, "WHERE FALSE")
    return Values((Column("column1", Type.INT),), tuple((Const(number),) for number in series))


def _shared(one: Typed, other: Typed) -> Typed:
    kind, unit = meeting(one, other, "list together")
    return Typed(one.expr, kind, unit, one.nullable or other.nullable, other.at)


def _constant(value: Typed, column: Column) -> Const:
    return Const(compile_expr(widened(value.expr, value.type, column.type), ())(()))
