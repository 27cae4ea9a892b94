"""USING KEY: a recursion that keeps the best row of each key, as DuckDB spells it.

    walk USING KEY (node)   … MIN(w.cost + l.cost) FROM walk w JOIN link l ON …
                            LEFT JOIN recurring.walk k ON k.node = l.dst
                            WHERE k.cost IS NULL OR w.cost + l.cost < k.cost
                            GROUP BY l.dst
    is read as              … MIN(w.cost + l.cost) FROM walk w JOIN link l ON … GROUP BY l.dst

A row replaces that of its key in the round that brings it. What stays then depends on the rounds,
unless only what is better replaces: then the least row of all that can be derived stays, which is
aggregate selection. Other uses of USING KEY are left to be refused.

Source: own.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from aspen.streamsql.tree import conjuncts, unsupported

_KEPT = "recurring"


def without_keys(tree: exp.Expr) -> exp.Expr:
    """Rewrites the recursions of a statement that keep the best row of each key.

    Raises:
        Unsupported: a recursion keeps rows by key in another way.
    """
    for found in list(tree.find_all(exp.CTE)):
        keys, query = found.args.get("key_expressions"), found.this
        if not keys:
            continue
        names = [column.name for column in found.args["alias"].columns]
        places = [names.index(key.name) for key in keys if key.name in names]
        step = query.expression if isinstance(query, exp.Union) else None
        if not (
            isinstance(step, exp.Select)
            and len(places) == len(keys)
            and _simplify(step, found.alias, names, places)
        ):
            raise unsupported(
                "USING KEY, unless what is better replaces what is kept",
                keys[0],
                "MIN or MAX in the step, grouped by the keys, and no USING KEY",
            )
        found.set("key_expressions", None)
    return tree


def _simplify(step: exp.Select, name: str, names: list[str], places: list[int]) -> bool:
    """Takes the comparison with the row kept so far out of a step, if that is all there is of it.

    Args:
        names: of the recursion's columns.
        places: indices of its keys.
    """
    outputs = [output.unalias() for output in step.expressions]
    others = [index for index in range(len(outputs)) if index not in places]
    if len(outputs) != len(names) or len(others) != 1:
        return False
    best, cost = outputs[others[0]], names[others[0]]
    group = step.args.get("group")
    keys = {names[index]: outputs[index] for index in places}
    how = best.name.upper() if isinstance(best, exp.Anonymous) else ""
    if how not in ("MIN", "MAX") or len(best.expressions) != 1 or group is None:
        return False
    if {*group.expressions} != {*keys.values()}:
        return False
    joins = [join for join in step.args.get("joins") or () if _reads_kept(join, name)]
    where = step.args.get("where")
    if len(joins) != 1 or where is None:
        return False
    (join,) = joins
    kept = join.this.alias_or_name
    matched = {frozenset(_sides(part)) for part in conjuncts(join.args.get("on"))}
    if matched != {frozenset((_column(kept, key), output)) for key, output in keys.items()}:
        return False
    held, made = _column(kept, cost), best.expressions[0]
    less, more = (made, held) if how == "MIN" else (held, made)
    absent = exp.Is(this=held.copy(), expression=exp.Null())
    ways = [
        {absent, exp.LT(this=less.copy(), expression=more.copy())},
        {absent, exp.GT(this=more.copy(), expression=less.copy())},
    ]
    conditions = list(conjuncts(where.this))
    better = [one for one in conditions if {*_either(one)} in ways]
    rest = [one for one in conditions if one not in better]
    read = [*step.expressions, *rest, *(j for j in step.args["joins"] if j is not join)]
    if len(better) != 1 or any(_names(one, kept) for one in read):
        return False
    step.args["joins"].remove(join)
    step.set("where", exp.Where(this=exp.and_(*rest, copy=False)) if rest else None)
    return True


def _reads_kept(join: exp.Expr, name: str) -> bool:
    read = join.this
    return (
        isinstance(read, exp.Table)
        and read.db.lower() == _KEPT
        and (read.name == name and join.args.get("side") == "LEFT")
    )


def _names(tree: exp.Expr, kept: str) -> bool:
    return any(column.table == kept for column in tree.find_all(exp.Column))


def _column(table: str, name: str) -> exp.Expr:
    here, of = (exp.Identifier(this=one, quoted=False) for one in (name, table))
    return exp.Column(this=here, table=of)


def _sides(tree: exp.Expr) -> tuple[exp.Expr, ...]:
    return (tree.this, tree.expression) if isinstance(tree, exp.EQ) else (tree,)


def _either(tree: exp.Expr) -> Iterator[exp.Expr]:
    """Returns what ORs join."""
    if isinstance(tree, exp.Paren):
        yield from _either(tree.this)
    elif isinstance(tree, exp.Or):
        yield from _either(tree.this)
        yield from _either(tree.expression)
    else:
        yield tree
