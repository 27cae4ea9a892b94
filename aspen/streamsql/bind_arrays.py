"""Arrays whose type is written beside them, as nothing in them may say it."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from aspen.errors import Position
from aspen.streamsql.positions import placed
from aspen.streamsql.sql_types import type_of
from aspen.streamsql.typing_arrays import cast_array, listed
from aspen.streamsql.typing_rules import Typed


def bind_array(tree: exp.Expr, here: Position, bind: Callable[[exp.Expr], Typed]) -> Typed:
    """Binds `CAST([1, NULL] AS INT[])`, whose values may be of another type, or none.

    Args:
        tree: a CAST to an array, or an array of nothing.
        bind: binds an expression.

    Raises:
        TypeMismatch: nothing says what an array holds, or CAST is of something else.
    """
    if isinstance(tree, exp.Array):
        return listed((), here)
    wanted = tree.args["to"]
    kind = type_of(wanted, here)
    if not isinstance(tree.this, exp.Array):
        return cast_array(bind(tree.this), kind)
    inner = wanted.expressions[0]
    each = [type(tree)(this=one.copy(), to=inner.copy()) for one in tree.this.expressions]
    return listed([bind(placed(one, here)) for one in each], here, kind.element)
