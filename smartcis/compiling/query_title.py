"""Query titles: what people call a query that nobody named: the example it is, else what it asks.

    SELECT r.name, AVG(c.celsius) FROM room_climate c JOIN room r … WHERE c.celsius > 20 GROUP BY …
    → Average celsius by name from room climate and room, where celsius > 20

A title is never a part of the text: what makes it too long is left out as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from django.utils.translation import get_language
from django.utils.translation import gettext as _
from sqlglot import exp

from aspen.algebra.plan import AggregateFunction
from aspen.errors import AspenError
from aspen.streamsql.bind_order import unwrapped
from aspen.streamsql.bind_source import relation_name
from aspen.streamsql.reads import names_read, sources_of
from aspen.streamsql.statement import read_statement
from aspen.streamsql.tree import COMPARED, call_of, conjuncts, has_aggregate
from smartcis.examples import example_of
from smartcis.models import MaintainedQuery

LONGEST = 100
LISTED = 3
TITLES_HELD = 2_000
_UNIT = re.compile(r"_(?:s|m|mm|ms|kg|mb|w|mw|wh|pct|id)$")
_SYMBOLS = {"<=": "≤", ">=": "≥", "<>": "≠"}
_KEYS = {"rid": "room", "mid": "machine", "sid": "sensor", "at_s": "time"}


def title_of(query: MaintainedQuery) -> str:
    """Returns what people call a query: its name, else the example it is, else what it asks."""
    return query.name or title_of_text(query.sql)


def title_of_text(sql: str) -> str:
    """Returns what people call a query that has no name."""
    return _title(sql, get_language())


@lru_cache(maxsize=TITLES_HELD)
def _title(sql: str, language: str | None) -> str:
    del language  # the words are those of the language that is active
    example = example_of(sql)
    if example is not None:
        return _(example.title)
    try:
        query = read_statement(sql).query
    except AspenError:
        return _("A query of an older version")
    read = [_words(name) for name in _relations(query)]
    if not read:
        return _("Values written in the query")
    select = _select(query)
    subjects: Sequence[str] = ()
    if select is not None:
        subjects = _subjects(select)
    parts = [
        _("from {relations}").format(relations=_listed(read)),
        *([_where(select), _order(query)] if select is not None else []),
    ]
    subject = _listed(subjects) or _("Everything")
    while parts and len(_joined(subject, parts)) > LONGEST:
        parts.pop()
    title = _joined(subject, parts) if parts else _listed(read) or subject
    if len(title) > LONGEST:
        title = _("Rows from {count} relations").format(count=len(read))
    return title[:1].upper() + title[1:]


def _joined(subject: str, parts: Sequence[str]) -> str:
    first, *rest = parts
    return ", ".join(filter(None, [f"{subject} {first}".strip(), *rest]))


def _select(query: exp.Expr) -> exp.Select | None:
    """Returns the SELECT that says what comes out; of a UNION the first."""
    tree = unwrapped(query)
    while isinstance(tree, exp.SetOperation):
        tree = unwrapped(tree.this)
    return tree if isinstance(tree, exp.Select) else None


def _relations(query: exp.Expr) -> list[str]:
    """Returns what a query reads, in the order in which it says so; its own names aside."""
    read = names_read(query)
    select = _select(query)
    tables = [] if select is None else [t for t in sources_of(select) if isinstance(t, exp.Table)]
    first = [name for name in map(relation_name, tables) if name in read]
    return list(dict.fromkeys([*first, *sorted(read)]))


def _subjects(select: exp.Select) -> list[str]:
    """Returns what comes out: the aggregates by their groups, else the columns."""
    counted = [one for one in select.expressions if has_aggregate(one.unalias())]
    aggregates = [said for one in counted if (said := _aggregate(one))]
    named = [
        words
        for one in select.expressions
        if one not in counted and (words := _words(one.alias_or_name)) and words != "*"
    ]
    if not aggregates or not named:
        return aggregates or named
    by = _("{values} by {groups}")
    return [by.format(values=_listed(aggregates), groups=_listed(named))]


def _aggregate(tree: exp.Expr) -> str:
    """Returns the words of an aggregate: its name, else what it is of which column."""
    call = call_of(tree)
    if isinstance(tree, exp.Alias) or call is None or call.aggregate is None:
        return _words(tree.alias)
    of = call.arguments[0] if call.arguments else None
    if call.aggregate is AggregateFunction.COUNT or not isinstance(of, exp.Column):
        return _("number of rows") if call.aggregate is AggregateFunction.COUNT else ""
    forms = {
        AggregateFunction.AVG: _("average {column}"),
        AggregateFunction.MAX: _("highest {column}"),
        AggregateFunction.MIN: _("lowest {column}"),
        AggregateFunction.SUM: _("sum of {column}"),
    }
    return forms.get(call.aggregate, "").format(column=_words(of.name))


def _where(select: exp.Select) -> str:
    """Returns the conditions that compare a column with a value."""
    where = select.args.get("where")
    said = list(_conditions(None if where is None else where.this))
    return _("where {conditions}").format(conditions=_listed(said[:2])) if said else ""


def _conditions(tree: exp.Expr | None) -> Iterator[str]:
    for one in conjuncts(tree):
        symbol = COMPARED.get(type(one))
        if symbol is None:
            continue
        column, value = one.this, one.expression
        if isinstance(column, exp.Column) and isinstance(value, exp.Literal):
            words = _("{column} is {value}") if symbol == "=" else "{column} {symbol} {value}"
            shown = _SYMBOLS.get(symbol, symbol)
            yield words.format(column=_words(column.name), symbol=shown, value=value.name)


def _order(query: exp.Expr) -> str:
    order = query.args.get("order")
    if order is None or not isinstance(order.expressions[0].this, exp.Column):
        return ""
    key = order.expressions[0]
    name, falling = key.this.name, bool(key.args.get("desc"))
    if name.endswith("_s"):
        return _("newest first") if falling else _("oldest first")
    words = _words(name)
    return (
        _("highest {column} first").format(column=words)
        if falling
        else _("by {column}").format(column=words)
    )


def _words(name: str) -> str:
    """Returns a name of a relation or column as words, without the unit at its end."""
    return _KEYS.get(name) or _UNIT.sub("", name).replace("_", " ").replace(".", " ").strip()


def _listed(words: Sequence[str]) -> str:
    """Returns words as a list in prose, the last of many as a number."""
    words = list(dict.fromkeys(words))
    if len(words) > LISTED:
        more = _("{count} more").format(count=len(words) - LISTED + 1)
        words = [*words[: LISTED - 1], more]
    if len(words) < 2:  # noqa: PLR2004  # one word is no list
        return "".join(words)
    return _("{words} and {last}").format(words=", ".join(words[:-1]), last=words[-1])
