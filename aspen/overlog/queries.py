"""Rules → the queries StreamSQL would have for them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from aspen.overlog.body import Body, MakeSource, assigned
from aspen.overlog.syntax import Aggregate, Atom, Rule, variables
from aspen.streamsql.ast import (
    DerivedSource,
    Expression,
    Function,
    Item,
    Literal,
    Name,
    NamedSource,
    Query,
    SelectQuery,
    Source,
    UnionQuery,
    WindowClause,
)

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
    windows: Mapping[str, WindowClause]

    def whole(self, rules: tuple[Rule, ...]) -> Query:
        """Returns the query of a predicate that does not read itself."""
        if rules[0].head.aggregates:
            return self._grouped(rules)
        return united([self.plain(rule, distinct=True) for rule in rules])

    def plain(self, rule: Rule, *, distinct: bool = False) -> SelectQuery:
        """Returns a rule's rows; where its head aggregates, what is aggregated stands there."""
        body = self._body(rule, self._source)
        return SelectQuery(
            self._items(rule, body),
            tuple(body.sources),
            body.where,
            (),
            None,
            distinct,
            rule.head.at,
        )

    def step(self, rule: Rule, component: Collection[str]) -> SelectQuery:
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
        inner = Rule(rule.head, (*others, *rule.negated), inner_conditions)
        names = tuple(dict.fromkeys(self._body(inner, self._source).values))
        rest = Atom(_REST, tuple(Name("", name, rule.head.at) for name in names), at=rule.head.at)
        recursive = tuple(atom for atom in rule.positive if atom.predicate in component)
        outer = replace(
            rule,
            atoms=(*recursive, rest),
            conditions=tuple(c for c in rule.conditions if c not in inner_conditions),
        )

        def source(atom: Atom, alias: str) -> Source:
            if atom is not rest:
                return self._source(atom, alias)
            return DerivedSource(self._named(inner, names), alias, at=atom.at)

        columns = {**self.columns, _REST: tuple(map(_column, range(len(names))))}
        body = Body.of(outer, columns, source)
        return SelectQuery(
            self._items(outer, body), tuple(body.sources), body.where, at=rule.head.at
        )

    def _body(self, rule: Rule, source: MakeSource) -> Body:
        return Body.of(rule, self.columns, source)

    def _source(self, atom: Atom, alias: str) -> Source:
        return NamedSource(atom.predicate, alias, self.windows.get(atom.predicate), atom.at)

    def _named(self, rule: Rule, names: tuple[str, ...]) -> SelectQuery:
        """Returns the bindings of a rule's variables."""
        body = self._body(rule, self._source)
        items = tuple(
            Item(body.values[name], _column(index), rule.head.at)
            for index, name in enumerate(names)
        )
        return SelectQuery(items, tuple(body.sources), body.where, at=rule.head.at)

    def _items(self, rule: Rule, body: Body) -> tuple[Item, ...]:
        where = f"in the head of {rule.head.predicate}"
        items: list[Item] = []
        names = self.columns[rule.head.predicate]
        for name, argument in zip(names, rule.head.arguments, strict=True):
            term = argument.argument if isinstance(argument, Aggregate) else argument
            # count<*> counts rows: what stands in its place is never read.
            value = Literal(1, argument.at) if term is None else body.replaced(term, where)
            items.append(Item(value, name, argument.at))
        return tuple(items)

    def _grouped(self, rules: tuple[Rule, ...]) -> Query:
        """Aggregate over the ways in which the body is true, each counted once."""
        head = rules[0].head
        sensitive = any(function not in ("min", "max") for _, function in head.aggregates)
        branches: list[SelectQuery] = []
        for rule in rules:
            body = self._body(rule, self._source)
            items = self._items(rule, body)
            if sensitive:
                items += tuple(
                    Item(name, _column(index), head.at) for index, name in enumerate(body.read)
                )
            branches.append(
                SelectQuery(
                    items, tuple(body.sources), body.where, distinct=sensitive, at=rule.head.at
                )
            )
        inner: Query = branches[0]
        for branch in branches[1:]:
            inner = UnionQuery(inner, branch, keeps_duplicates=True, at=branch.at)
        keys: list[Expression] = []
        outputs: list[Item] = []
        for name, argument in zip(self.columns[head.predicate], head.arguments, strict=True):
            column = Name(_DERIVED, name, argument.at)
            if isinstance(argument, Aggregate):
                star = argument.argument is None
                arguments = () if star else (column,)
                call = Function(argument.function, arguments, star, at=argument.at)
                outputs.append(Item(call, name, argument.at))
            else:
                keys.append(column)
                outputs.append(Item(column, name, argument.at))
        # Without keys SQL gives a row over nothing; a rule derives nothing from nothing.
        return SelectQuery(
            tuple(outputs),
            (DerivedSource(inner, _DERIVED, at=head.at),),
            group_by=tuple(keys) or (Literal(0, head.at),),
            at=head.at,
        )


def united(queries: list[SelectQuery]) -> Query:
    """Returns the set of all rows of some queries."""
    union: Query = queries[0]
    for query in queries[1:]:
        union = UnionQuery(union, query, keeps_duplicates=False, at=query.at)
    return union


def _column(index: int) -> str:
    return f"binding_{index + 1}"
