"""The select list: what `*` stands for, what each output is called, and what computes it."""

from __future__ import annotations

from sqlglot import exp

from aspen.algebra.expr import Expr
from aspen.model.schema import Column, Type, is_column_name
from aspen.streamsql.bind_expr import ExpressionBinder
from aspen.streamsql.errors import (
    BadName,
    DuplicateOutput,
    SyntaxRefused,
    UnknownColumn,
    nearest,
    suggestion,
)
from aspen.streamsql.positions import whole
from aspen.streamsql.scope import Scope, bare
from aspen.streamsql.tree import Item, call_of, column_of
from aspen.streamsql.typing_rules import Typed


def bind_select(
    items: list[Item], binder: ExpressionBinder, *, named: bool
) -> list[tuple[Column, Expr]]:
    """Returns the columns a select list gives, each with what computes it.

    Args:
        named: whether their names will be seen; if not, equal ones are told apart.

    Raises:
        DuplicateOutput: two columns of one name.
        BadName: a name that no column can have.
    """
    outputs: list[tuple[Column, Expr]] = []
    taken: set[str] = set()
    for item in items:
        typed = binder.bind(item.value)
        name = item.alias or _natural(item.value, len(outputs) + 1)
        if not named or not (item.alias or isinstance(item.value, exp.Column)):
            name = _untaken(name, taken, len(outputs) + 1)
        if not is_column_name(name):
            raise BadName(
                f"{name!r} is no name of a column",
                position=item.at,
                found=name,
                attempt="letters, digits, signs and single spaces; no full stop",
            )
        if name in taken:
            raise DuplicateOutput(
                f"two output columns are called {name!r}",
                position=item.at,
                found=name,
                exists=[column.name for column, _ in outputs],
                attempt=f"rename one: AS {name}_2",
            )
        taken.add(name)
        outputs.append((_column(name, typed), typed.expr))
    return outputs


def _untaken(name: str, taken: set[str], number: int) -> str:
    while name in taken:
        name = f"{name}_{number}"
    return name


def expanded(items: list[Item], scope: Scope) -> list[Item]:
    """Returns a select list with the columns that `*` stands for.

    Raises:
        UnknownColumn: `x.*` where nothing in FROM is called x.
    """
    found: list[Item] = []
    for item in items:
        if not item.value.is_star:
            found.append(item)
            continue
        wanted = item.value.table if isinstance(item.value, exp.Column) else ""
        if wanted and wanted not in scope.sources:
            raise UnknownColumn(
                f"nothing in FROM is called {wanted!r}",
                position=item.at,
                found=f"{wanted}.*",
                exists=nearest(wanted, scope.sources),
                attempt=suggestion(wanted, scope.sources) or "name the source in FROM",
            )
        columns = scope.starred
        if wanted:
            columns = [(wanted, column) for column in scope.sources[wanted].columns]
        every = [
            Item(column_of(alias, bare(column), item.at), "", item.at) for alias, column in columns
        ]
        found += _changed(every, item.value.this if wanted else item.value)
    return found


def _changed(items: list[Item], star: exp.Expr) -> list[Item]:
    """Returns the columns of `*` as EXCLUDE, REPLACE and RENAME behind it say.

    Raises:
        SyntaxRefused: nothing is left.
        UnknownColumn: they name a column that `*` has not.
    """
    left_out = {column.name: column for column in star.args.get("except_") or ()}
    replaced = {one.alias: one for one in star.args.get("replace") or ()}
    renamed = {one.this.name: one for one in star.args.get("rename") or ()}
    names = [item.name for item in items]
    for name, tree in (*left_out.items(), *replaced.items(), *renamed.items()):
        if name not in names:
            raise UnknownColumn(
                f"* has no column {name!r}",
                position=whole(tree),
                found=name,
                exists=nearest(name, names),
                attempt=suggestion(name, names) or "name a column of the sources in FROM",
            )
    if len(left_out) == len(names):
        raise SyntaxRefused(
            "SELECT selects nothing", position=whole(star), attempt="name columns, or write *"
        )
    return [
        Item(replaced[item.name].this, item.name, whole(replaced[item.name]))
        if item.name in replaced
        else item._replace(alias=renamed[item.name].alias if item.name in renamed else "")
        for item in items
        if item.name not in left_out
    ]


def _natural(value: exp.Expr, number: int) -> str:
    if isinstance(value, exp.Column):
        return value.name
    call = call_of(value)
    return f"column_{number}" if call is None else call.name


def _column(name: str, typed: Typed) -> Column:
    return Column(name, typed.type or Type.TEXT, typed.unit, typed.nullable)
