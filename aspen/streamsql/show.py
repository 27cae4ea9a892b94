"""AST → text, for EXPLAIN and the golden files (border 1)."""

from __future__ import annotations

from collections.abc import Iterator

from aspen.algebra.text import column_text, value_text
from aspen.model.schema import Relation
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
        words = [f"partition by {by}"] if by else []
        for word, amount, seconds in source.window.bounds.words:
            words.append(f"{word} {amount}{' s' if seconds else ''}")
        window = f" [{' '.join(words)}]"
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
