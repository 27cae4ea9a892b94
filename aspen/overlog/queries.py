"""Rules → the queries StreamSQL would have for them, as sqlglot's trees."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from aspen.errors import Position
from aspen.overlog.body import Body, MakeSource, assigned, output, selected
from aspen.overlog.syntax import Atom, HeadAggregate, OverlogRule, variables
from aspen.streamsql.dialect import StreamWindow
from aspen.streamsql.positions import at, placed
from aspen.streamsql.recursion_text import union_of
from aspen.streamsql.tree import column_of

_DERIVED = "derived"
_REST = "_rest"  # no predicate of a text begins with _


@dataclass(frozen=True, slots=True)
class Queries:
    """Makes queries of rules.

    Args:
        columns: names of the columns of every predicate, relations included.
        windows: how much of each stream counts.
    """

    columns: Mapping[str, tuple[str, ...]]
    windows: Mapping[str, StreamWindow]

    def whole(self, rules: tuple[OverlogRule, ...]) -> exp.Expr:
        """Returns the query of a predicate that does not read itself."""
        if rules[0].head.aggregates:
            return self._grouped(rules)
        return united([self.plain(rule, distinct=True) for rule in rules])

    def plain(self, rule: OverlogRule, *, distinct: bool = False) -> exp.Select:
        """Returns a rule's rows; where its head aggregates, what is aggregated stands there."""
        body = self._body(rule, self._source)
        return body.select(self._items(rule, body), rule.head.at, distinct=distinct)

    def step(self, rule: OverlogRule, component: Collection[str]) -> exp.Select:
        """Returns the rows a recursive rule adds.

        Negated predicates whose variables others than the recursive ones bind go with those, into
        a sub-select: it is kept outside the recursion.

        Args:
            component: the predicates that are recursive together.
        """
        if not rule.negated:
            return self.plain(rule)
        others = tuple(atom for atom in rule.positive if atom.predicate not in component)
        bound = assigned(
            (v.name for atom in others for term in atom.arguments for v in variables(term)),
            rule.conditions,
        )
        compared = {
            v.name for atom in rule.negated for term in atom.arguments for v in variables(term)
        }
        if not others or not compared <= bound:
            return self.plain(rule)
        inner_conditions = tuple(
            c for c in rule.conditions if all(v.name in bound for v in variables(c.test))
        )
        inner = OverlogRule(rule.head, (*others, *rule.negated), inner_conditions)
        names = tuple(dict.fromkeys(self._body(inner, self._source).values))
        free = tuple(column_of("", name, rule.head.at) for name in names)
        rest = Atom(_REST, free, at=rule.head.at)
        recursive = tuple(atom for atom in rule.positive if atom.predicate in component)
        outer = replace(
            rule,
            atoms=(*recursive, rest),
            conditions=tuple(c for c in rule.conditions if c not in inner_conditions),
        )

        def source(atom: Atom, alias: str) -> exp.Expr:
            if atom is not rest:
                return self._source(atom, alias)
            return derived(self._named(inner, names), alias, atom.at)

        columns = {**self.columns, _REST: tuple(map(_column, range(len(names))))}
        body = Body.of(outer, columns, source)
        return body.select(self._items(outer, body), rule.head.at)

    def _body(self, rule: OverlogRule, source: MakeSource) -> Body:
        return Body.of(rule, self.columns, source)

    def _source(self, atom: Atom, alias: str) -> exp.Expr:
        window = self.windows.get(atom.predicate)
        return exp.Table(
            this=placed(exp.Identifier(this=atom.predicate, quoted=False), atom.at),
            alias=exp.TableAlias(this=exp.Identifier(this=alias, quoted=False)),
            stream_window=None if window is None else window.copy(),
        )

    def _named(self, rule: OverlogRule, names: tuple[str, ...]) -> exp.Select:
        """Returns the bindings of a rule's variables."""
        body = self._body(rule, self._source)
        here = rule.head.at
        values = (body.values[name].copy() for name in names)
        outputs = [output(_column(index), value, here) for index, value in enumerate(values)]
        return body.select(outputs, here)

    def _items(self, rule: OverlogRule, body: Body) -> list[exp.Alias]:
        where = f"in the head of {rule.head.predicate}"
        items: list[exp.Alias] = []
        names = self.columns[rule.head.predicate]
        for name, argument in zip(names, rule.head.arguments, strict=True):
            term = argument.argument if isinstance(argument, HeadAggregate) else argument
            # count<*> counts rows: what stands in its place is never read.
            here = argument.at if isinstance(argument, HeadAggregate) else at(argument)
            value = exp.Literal.number(1) if term is None else body.replaced(term, where)
            items.append(output(name, value, here))
        return items

    def _grouped(self, rules: tuple[OverlogRule, ...]) -> exp.Expr:
        """Aggregate over the ways in which the body is true, each counted once."""
        head = rules[0].head
        sensitive = any(function not in ("min", "max") for _, function in head.aggregates)
        branches: list[exp.Select] = []
        for rule in rules:
            body = self._body(rule, self._source)
            items = self._items(rule, body)
            if sensitive:
                items += [
                    output(_column(index), column.copy(), head.at)
                    for index, column in enumerate(body.read)
                ]
            branches.append(body.select(items, rule.head.at, distinct=sensitive))
        keys: list[exp.Expr] = []
        outputs: list[exp.Alias] = []
        for name, argument in zip(self.columns[head.predicate], head.arguments, strict=True):
            if isinstance(argument, HeadAggregate):
                column = column_of(_DERIVED, name, argument.at)
                counted = exp.Star() if argument.argument is None else column
                call = exp.Anonymous(this=argument.function, expressions=[counted])
                outputs.append(output(name, placed(call, argument.at), argument.at))
            else:
                keys.append(column_of(_DERIVED, name, at(argument)))
                outputs.append(output(name, keys[-1].copy(), at(argument)))
        rows = united(branches, distinct=False)
        grouped = selected(outputs, [derived(rows, _DERIVED, head.at)], head.at)
        # Without keys SQL gives a row over nothing; a rule derives nothing from nothing.
        everything = exp.Neg(this=exp.Literal.number(0))  # a constant, not the index of an output
        grouped.set("group", exp.Group(expressions=keys or [everything]))
        return grouped


def united(queries: list[exp.Select], *, distinct: bool = True) -> exp.Expr:
    """Returns all rows of some queries, as a set unless it is said otherwise."""
    union: exp.Expr = queries[0]
    for query in queries[1:]:
        union = union_of(union, query, distinct=distinct)
    return union


def derived(query: exp.Expr, alias: str, here: Position) -> exp.Subquery:
    """Returns a query as a source."""
    name = exp.TableAlias(this=exp.Identifier(this=alias, quoted=False))
    return placed(exp.Subquery(this=query, alias=name), here)


def _column(index: int) -> str:
    return f"binding_{index + 1}"
