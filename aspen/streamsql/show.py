"""AST and bound query → text, for EXPLAIN and the golden files (borders 1 and 2)."""

from __future__ import annotations

from collections.abc import Iterator

from aspen.algebra.explain import expr_text
from aspen.algebra.text import column_text, value_text
from aspen.model.schema import Column
from aspen.streamsql.ast import (
    Binary,
    Choice,
    CreateView,
    Exists,
    Expression,
    Function,
    Literal,
    Name,
    NamedSource,
    Negation,
    NullTest,
    Query,
    SelectQuery,
    Source,
    Star,
    Statement,
    UnionQuery,
    WithQuery,
)
from aspen.streamsql.bound import (
    BaseSource,
    BoundExists,
    BoundFrom,
    BoundGroup,
    BoundQuery,
    BoundRecursion,
    BoundRename,
    BoundSelect,
    BoundSource,
    BoundStatement,
    BoundUnion,
    RecursionSource,
    SubSource,
)


def ast_text(statement: Statement) -> str:
    """Print a statement as an outline, one clause per line."""
    head = f"CreateView {statement.name}" if isinstance(statement, CreateView) else "Select"
    return "\n".join([head, *_indented(_query(statement.query))]) + "\n"


def _indented(lines: Iterator[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines)


def _query(query: Query) -> Iterator[str]:
    match query:
        case SelectQuery():
            yield from _select(query)
        case UnionQuery(left, right, keeps):
            yield "union all" if keeps else "union"
            yield from _indented(_query(left))
            yield from _indented(_query(right))
        case WithQuery(ctes, body, recursive):
            for cte in ctes:
                columns = f"({', '.join(cte.columns)})" if cte.columns else ""
                yield f"with {'recursive ' if recursive else ''}{cte.name}{columns}"
                yield from _indented(_query(cte.query))
            yield from _query(body)


def _select(query: SelectQuery) -> Iterator[str]:
    yield "select distinct" if query.distinct else "select"
    for item in query.items:
        if isinstance(item.value, Star):
            yield f"  {item.value.qualifier}{'.' if item.value.qualifier else ''}*"
        else:
            yield f"  {spell(item.value)}{f' as {item.alias}' if item.alias else ''}"
    for source in query.sources:
        yield from _source(source)
    if query.where is not None:
        yield f"where {spell(query.where)}"
        yield from _subqueries(query.where)
    if query.group_by:
        yield f"group by {', '.join(map(spell, query.group_by))}"
    if query.having is not None:
        yield f"having {spell(query.having)}"


def _source(source: Source) -> Iterator[str]:
    if not isinstance(source, NamedSource):
        yield f"from (query) as {source.alias}"
        yield from _indented(_query(source.query))
        return
    window = ""
    if source.window is not None:
        by = ", ".join(spell(name) for name in source.window.partition_by)
        rows, span = source.window.rows, source.window.range_s
        words = [
            f"partition by {by}" if by else "",
            f"rows {rows}" if rows is not None else "",
            f"range {span} s" if span is not None else "",
        ]
        window = f" [{' '.join(filter(None, words))}]"
    yield f"from {source.name} as {source.alias}{window}"


def _subqueries(node: Expression) -> Iterator[str]:
    match node:
        case Exists(query):
            yield "  (query)"
            yield from (f"    {line}" for line in _query(query))
        case Binary(_, left, right):
            yield from _subqueries(left)
            yield from _subqueries(right)
        case Negation(inner):
            yield from _subqueries(inner)


def spell(node: Expression) -> str:
    """Spell an expression with every bracket."""
    match node:
        case Name(qualifier, name):
            return f"{qualifier}.{name}" if qualifier else name
        case Literal(value):
            return value_text(value)
        case Binary(symbol, left, right):
            return f"({spell(left)} {symbol} {spell(right)})"
        case Negation(inner):
            return f"(NOT {spell(inner)})"
        case NullTest(inner):
            return f"({spell(inner)} IS NULL)"
        case Function(name, arguments, star, distinct):
            inside = "*" if star else ", ".join(map(spell, arguments))
            return f"{name}({'DISTINCT ' if distinct else ''}{inside})"
        case Choice(branches, otherwise):
            whens = "".join(f"WHEN {spell(w)} THEN {spell(t)} " for w, t in branches)
            return f"CASE {whens}ELSE {spell(otherwise)} END"
        case Exists(_, needle):
            return "EXISTS (query)" if needle is None else f"({spell(needle)} IN (query))"


def bound_text(statement: BoundStatement) -> str:
    """Print a bound statement: sources with their kinds, expressions with full names, types."""
    head = f"view {statement.name}" if statement.name else "query"
    return "\n".join([head, *_indented(_bound(statement.query))]) + "\n"


def _columns(columns: tuple[Column, ...]) -> str:
    return ", ".join(map(column_text, columns))


def _bound(query: BoundQuery) -> Iterator[str]:
    match query:
        case BoundSelect(origin, group, outputs, distinct):
            yield "select distinct" if distinct else "select"
            for column, expr in outputs:
                yield f"  {column_text(column)} = {expr_text(expr)}"
            yield from _from(origin)
            if group is not None:
                yield from _group(group)
        case BoundUnion(branches, distinct, columns):
            yield f"union{'' if distinct else ' all'}: {_columns(columns)}"
            for branch in branches:
                yield from _indented(_bound(branch))
        case BoundRecursion(name, columns, base, step, best):
            yield f"recursion {name}: {_columns(columns)}"
            if best is not None:
                yield f"  keep {best.function.value} {best.column} by {', '.join(best.keys)}"
            yield "  base"
            yield from (f"    {line}" for line in _bound(base))
            yield "  step"
            yield from (f"    {line}" for line in _bound(step))
        case BoundRename(inner, columns):
            yield f"renamed: {_columns(columns)}"
            yield from _indented(_bound(inner))


def _from(origin: BoundFrom) -> Iterator[str]:
    for source in origin.sources:
        yield from _bound_source(source)
    for predicate in origin.predicates:
        yield f"where {expr_text(predicate)}"
    for found in origin.exists:
        yield from _bound_exists(found)


def _bound_source(source: BoundSource) -> Iterator[str]:
    match source:
        case BaseSource(alias, relation, _, window):
            words = ""
            if window is not None:
                by = f" by {', '.join(window.partition_by)}" if window.partition_by else ""
                rows = f" rows {window.rows}" if window.rows is not None else ""
                span = f" range {window.range_s} s" if window.range_s is not None else ""
                words = f" window{by}{rows}{span}"
            yield f"from {alias} = {relation.kind.value} {relation.name}{words}"
        case SubSource(alias, query):
            yield f"from {alias} = QUERY"
            yield from _indented(_bound(query))
        case RecursionSource(alias, name):
            yield f"from {alias} = RECURSION {name}"


def _bound_exists(found: BoundExists) -> Iterator[str]:
    on = ", ".join(f"{left} = {right}" for left, right in found.on)
    yield f"{'not ' if found.negated else ''}exists{f' on {on}' if on else ''}"
    for residual in found.residual:
        yield f"  across {expr_text(residual)}"
    yield from _indented(_from(found.inner))


def _group(group: BoundGroup) -> Iterator[str]:
    keys = ", ".join(
        column.name if expr_text(expr) == column.name else f"{column.name} = {expr_text(expr)}"
        for column, expr in group.keys
    )
    yield f"group by {keys}" if keys else "group all"
    for found in group.aggregates:
        inside = "*" if found.value is None else expr_text(found.value)
        distinct = "DISTINCT " if found.distinct else ""
        yield f"  {column_text(found.output)} = {found.function.value}({distinct}{inside})"
    if group.having is not None:
        yield f"having {expr_text(group.having)}"
