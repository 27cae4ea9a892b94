"""AST and bound query → text, for EXPLAIN and the golden files (borders 1 and 2)."""

from __future__ import annotations

from collections.abc import Iterator

from aspen.algebra.explain import expr_text
from aspen.algebra.text import column_text, value_text
from aspen.model.schema import Column, Relation
from aspen.streamsql.ast import (
    Binary,
    Choice,
    CompareQuery,
    CreateRelation,
    CreateView,
    DerivedSource,
    Exists,
    Expression,
    Function,
    JoinedSource,
    Literal,
    Name,
    Negation,
    NullTest,
    OrderedQuery,
    OrderKey,
    Output,
    Query,
    Scalar,
    Select,
    SelectQuery,
    Source,
    Star,
    Statement,
    UnionQuery,
    ValuesQuery,
    WithQuery,
)
from aspen.streamsql.bound import (
    BaseSource,
    BoundCompare,
    BoundExists,
    BoundFrom,
    BoundGroup,
    BoundOrder,
    BoundQuery,
    BoundRecursion,
    BoundRename,
    BoundSelect,
    BoundSource,
    BoundStatement,
    BoundSubquery,
    BoundUnion,
    BoundValues,
    OuterSource,
    RecursionSource,
    SubSource,
)


def ast_text(statement: Statement) -> str:
    """Print a statement as an outline, one clause per line."""
    match statement:
        case CreateRelation(relation):
            return _relation(relation)
        case CreateView():
            head = f"CreateView {statement.name}"
        case Select():
            head = "Once" if statement.once else "Select"
    lines = [head, *_indented(_query(statement.query)), *_outputs(statement.outputs)]
    return "\n".join(lines) + "\n"


def _relation(relation: Relation) -> str:
    lines = [f"Create {relation.kind.value.lower()} {relation.name}"]
    lines += [f"  {column_text(column)}" for column in relation.columns]
    facts = {
        "key": ", ".join(relation.key),
        "device": relation.device,
        "rate_hz": relation.rate_hz,
        "ttl_s": relation.ttl_s,
        "network": relation.network,
        "static": "" if relation.deletable else "yes",
        "comment": relation.comment,
    }
    lines += [f"  {name}: {value}" for name, value in facts.items() if value]
    return "\n".join(lines) + "\n"


def _outputs(outputs: tuple[Output, ...]) -> list[str]:
    return [f"  output to {found.kind.lower()} {found.target}".rstrip() for found in outputs]


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
        case CompareQuery(left, right, function, keeps):
            yield f"{function.lower()}{' all' if keeps else ''}"
            yield from _indented(_query(left))
            yield from _indented(_query(right))
        case ValuesQuery(rows):
            yield "values"
            yield from (f"  ({', '.join(map(spell, row))})" for row in rows)
        case OrderedQuery(inner, keys, limit, offset):
            yield from _query(inner)
            if keys:
                yield f"order by {', '.join(map(_order_key, keys))}"
            if limit is not None:
                yield f"limit {limit}"
            if offset:
                yield f"offset {offset}"
        case WithQuery(ctes, body, recursive):
            if query.most is not None:
                yield f"at most {query.most} rows"
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


def _order_key(key: OrderKey) -> str:
    down = " desc" if key.descending else ""
    return f"{spell(key.value)}{down}{' nulls last' if key.nulls_last else ''}"


def _joined(source: JoinedSource) -> Iterator[str]:
    words = "natural " if source.natural else ""
    using = f" using {', '.join(source.using)}" if source.using else ""
    on = f" on {spell(source.on)}" if source.on is not None else ""
    yield f"from {words}{source.kind.lower()} join{using}{on}"
    for sources, condition in ((source.left, source.left_on), (source.right, source.right_on)):
        for part in sources:
            yield from _indented(_source(part))
        if condition is not None:
            yield f"  where {spell(condition)}"


def _source(source: Source) -> Iterator[str]:
    if isinstance(source, JoinedSource):
        yield from _joined(source)
        return
    if isinstance(source, DerivedSource):
        columns = f"({', '.join(source.columns)})" if source.columns else ""
        yield f"from (query) as {source.alias}{columns}"
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
            f"slide {source.window.slide_s} s" if source.window.slide_s is not None else "",
        ]
        window = f" [{' '.join(filter(None, words))}]"
    yield f"from {source.name} as {source.alias}{window}"


def _subqueries(node: Expression) -> Iterator[str]:
    match node:
        case Exists(query) | Scalar(query):
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
        case Exists(_, needle, symbol):
            if needle is None:
                return "EXISTS (query)"
            return f"({spell(needle)} {'IN' if symbol == '=' else f'{symbol} ANY'} (query))"
        case Scalar():
            return "(query)"


def bound_text(statement: BoundStatement) -> str:
    """Print a bound statement: sources with their kinds, expressions with full names, types."""
    head = f"view {statement.name}" if statement.name else "query"
    head = f"once {head}" if statement.once else head
    lines = [head, *_indented(_bound(statement.query)), *_outputs(statement.outputs)]
    return "\n".join(lines) + "\n"


def _columns(columns: tuple[Column, ...]) -> str:
    return ", ".join(map(column_text, columns))


def _bound(query: BoundQuery) -> Iterator[str]:
    match query:
        case BoundSelect(origin, group, outputs, distinct, late):
            yield "select distinct" if distinct else "select"
            for column, expr in outputs:
                yield f"  {column_text(column)} = {expr_text(expr)}"
            yield from _from(origin)
            if group is not None:
                yield from _group(group)
            for found in late:
                yield from _bound_subquery(found)
        case BoundUnion(branches, distinct, columns):
            yield f"union{'' if distinct else ' all'}: {_columns(columns)}"
            for branch in branches:
                yield from _indented(_bound(branch))
        case BoundCompare(left, right, function, keeps, columns):
            yield f"{function.name.lower()}{' all' if keeps else ''}: {_columns(columns)}"
            yield from _indented(_bound(left))
            yield from _indented(_bound(right))
        case BoundValues(columns, rows):
            yield f"values: {_columns(columns)}"
            yield from (f"  ({', '.join(map(expr_text, row))})" for row in rows)
        case BoundOrder(inner, keys, limit, offset):
            downs = (f"{k.column}{' desc' if k.descending else ''}" for k in keys)
            cut = "" if limit is None else f" limit {limit}"
            yield f"order by {', '.join(downs)}{cut}{f' offset {offset}' if offset else ''}"
            yield from _indented(_bound(inner))
        case BoundRecursion():
            yield from _recursion(query, "recursion")
            for other in query.others:
                yield from _recursion(other, "with")
        case BoundRename(inner, columns):
            yield f"renamed: {_columns(columns)}"
            yield from _indented(_bound(inner))


def _recursion(query: BoundRecursion, word: str) -> Iterator[str]:
    yield f"{word} {query.name}: {_columns(query.columns)}"
    if query.most is not None:
        yield f"  at most {query.most} rows"
    if query.best is not None:
        chosen = ", ".join(f"{how.value} {column}" for column, how in query.best.choices)
        yield f"  keep {chosen} by {', '.join(query.best.keys)}"
    for part, inner in (("base", query.base), ("step", query.step)):
        yield f"  {part}"
        yield from (f"    {line}" for line in _bound(inner))


def _from(origin: BoundFrom) -> Iterator[str]:
    for source in origin.sources:
        yield from _bound_source(source)
    for predicate in origin.predicates:
        yield f"where {expr_text(predicate)}"
    for found in origin.exists:
        yield from _bound_exists(found)
    for made in origin.computed:
        yield from _bound_subquery(made)
    for predicate in origin.later:
        yield f"then where {expr_text(predicate)}"


def _bound_subquery(found: BoundSubquery) -> Iterator[str]:
    if isinstance(found, BoundExists):
        yield from _bound_exists(found)
        return
    yield f"compute {column_text(found.output)}"
    yield from _indented(_bound(found.query))


def _bound_source(source: BoundSource) -> Iterator[str]:
    match source:
        case BaseSource(alias, relation, _, window):
            words = ""
            if window is not None:
                by = f" by {', '.join(window.partition_by)}" if window.partition_by else ""
                rows = f" rows {window.rows}" if window.rows is not None else ""
                span = f" range {window.range_s} s" if window.range_s is not None else ""
                slide = f" slide {window.slide_s} s" if window.slide_s is not None else ""
                words = f" window{by}{rows}{span}{slide}"
            yield f"from {alias} = {relation.kind.value} {relation.name}{words}"
        case SubSource(alias, query):
            yield f"from {alias} = QUERY"
            yield from _indented(_bound(query))
        case OuterSource(kind, left, right, on):
            condition = f" on {' AND '.join(map(expr_text, on))}" if on else ""
            yield f"from {kind.lower()} join{condition}"
            yield from _indented(_from(left))
            yield from _indented(_from(right))
        case RecursionSource(alias, name):
            yield f"from {alias} = RECURSION {name}"


def _bound_exists(found: BoundExists) -> Iterator[str]:
    on = ", ".join(f"{left} = {right}" for left, right in found.on)
    mark = "" if found.mark is None else f" as {found.mark.name}"
    yield f"{'not ' if found.negated else ''}exists{f' on {on}' if on else ''}{mark}"
    if found.needle is not None:
        yield f"  {found.needle[0].name} = {expr_text(found.needle[1])}"
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
