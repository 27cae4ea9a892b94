"""One rule's body → FROM and WHERE, and what each variable stands for there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce

from sqlglot import exp

from aspen.errors import Position
from aspen.overlog.errors import RuleSyntaxRefused, UnboundVariable, UnsupportedRule
from aspen.overlog.syntax import (
    ANONYMOUS,
    MOST_OPERATORS,
    Atom,
    Condition,
    OverlogRule,
    anonymous,
    operators,
    variables,
)
from aspen.streamsql.positions import at, placed
from aspen.streamsql.tree import column_of

MakeSource = Callable[[Atom, str], exp.Expr]
"""Gives the source an atom reads, under an alias."""


@dataclass(slots=True)
class Body:
    """FROM and WHERE of one rule, while they are put together.

    Args:
        columns: names of the columns of each predicate.
        source: what an atom reads.
        values: what each variable stands for.
        read: every column of every positive atom, those under `_` included.
    """

    columns: Mapping[str, tuple[str, ...]]
    source: MakeSource
    sources: list[exp.Expr] = field(default_factory=list)
    values: dict[str, exp.Expr] = field(default_factory=dict)
    conditions: list[exp.Expr] = field(default_factory=list)
    read: list[exp.Column] = field(default_factory=list)
    aliases: set[str] = field(default_factory=set)

    @classmethod
    def of(
        cls, rule: OverlogRule, columns: Mapping[str, tuple[str, ...]], source: MakeSource
    ) -> Body:
        """Put a rule's body together.

        Raises:
            UnboundVariable: a condition or a negation uses what nothing binds.
        """
        body = cls(columns, source)
        terms: list[Condition] = []
        for atom in rule.positive:
            terms += body._read(atom)
        body._settle([*terms, *rule.conditions])
        for atom in rule.negated:
            body._without(atom)
        return body

    def select(
        self, outputs: Iterable[exp.Expr], here: Position, *, distinct: bool = False
    ) -> exp.Select:
        """Returns the SELECT of some outputs."""
        select = selected(outputs, self.sources, here)
        select.set("where", _where(self.conditions))
        select.set("distinct", exp.Distinct() if distinct else None)
        return select

    def replaced(self, term: exp.Expr, where: str) -> exp.Expr:
        """Returns a term over columns instead of variables.

        Args:
            where: for the message: `in the head of p`.

        Raises:
            UnboundVariable: nothing binds a variable of it.
        """
        hidden = anonymous(term)
        if hidden is not None:
            raise RuleSyntaxRefused(
                f"_ stands for nothing in particular, so it cannot stand {where}",
                position=at(hidden),
                found=ANONYMOUS,
                attempt="name a variable that the body binds",
            )
        for variable in variables(term):
            if variable.name not in self.values:
                raise self._unbound(variable, where)
        return term.transform(self._value)

    def _unbound(self, variable: exp.Column, where: str) -> UnboundVariable:
        return UnboundVariable(
            f"nothing binds {variable.name} {where}",
            position=at(variable),
            found=variable.name,
            exists=tuple(self.values),
            attempt=f"name {variable.name} in a predicate of the body that is not negated,"
            f" or assign it: {variable.name} = …",
        )

    def _alias(self, predicate: str) -> str:
        chosen, number = predicate, 2
        while chosen in self.aliases:
            chosen, number = f"{predicate}_{number}", number + 1
        self.aliases.add(chosen)
        return chosen

    def _read(self, atom: Atom) -> list[Condition]:
        """Add a positive atom; terms among its arguments become conditions."""
        alias = self._alias(atom.predicate)
        self.sources.append(self.source(atom, alias))
        terms: list[Condition] = []
        for column, argument in zip(self.columns[atom.predicate], atom.arguments, strict=True):
            own = column_of(alias, column, at(argument))
            self.read.append(own)
            if isinstance(argument, exp.Column):
                if argument.name == ANONYMOUS:
                    continue
                known = self.values.setdefault(argument.name, own)
                if known != own:
                    self.conditions.append(_equal(known, own, at(argument)))
            else:
                terms.append(Condition(_equal(own, argument, at(own)), at(own)))
        return terms

    def _settle(self, waiting: list[Condition]) -> None:
        """Let `C = …` bind C where nothing else does; everything else is a condition."""
        before = None
        while waiting and len(waiting) != before:
            before = len(waiting)
            for condition in list(waiting):
                if self._assign(condition) or self._bound(condition.test):
                    waiting.remove(condition)
        if waiting:
            unbound = [v for v in variables(waiting[0].test) if v.name not in self.values]
            # Of `C = C1 + 1` it is C1 that is missing.
            raise self._unbound(unbound[-1], "in a condition")

    def _assign(self, condition: Condition) -> bool:
        for target, value in _assignments(condition):
            if target.name not in self.values and all(
                v.name in self.values for v in variables(value)
            ):
                self.values[target.name] = self.replaced(value, "in a condition")
                if operators(self.values[target.name]) > MOST_OPERATORS:
                    raise UnsupportedRule(
                        f"{target.name} is computed in more than {MOST_OPERATORS} operators",
                        position=condition.at,
                        found=target.name,
                        attempt="split the rule, with a predicate in between",
                    )
                return True
        return False

    def _bound(self, test: exp.Expr) -> bool:
        if any(v.name not in self.values for v in variables(test)):
            return False
        self.conditions.append(self.replaced(test, "in a condition"))
        return True

    def _value(self, node: exp.Expr) -> exp.Expr:
        """Returns what a variable stands for; a column is spoken of where it is used."""
        if not isinstance(node, exp.Column) or node.table:
            return node
        value = self.values[node.name].copy()
        return placed(value, at(node)) if isinstance(value, exp.Column) else value

    def _without(self, atom: Atom) -> None:
        """Add NOT EXISTS."""
        alias = self._alias(atom.predicate)
        inside: list[exp.Expr] = []
        for column, argument in zip(self.columns[atom.predicate], atom.arguments, strict=True):
            if isinstance(argument, exp.Column) and argument.name == ANONYMOUS:
                continue
            value = self.replaced(argument, f"in !{atom.predicate}(…)")
            inside.append(_equal(column_of(alias, column, at(argument)), value, at(argument)))
        one = placed(exp.Literal.number(1), atom.at)
        query = selected([one], [self.source(atom, alias)], atom.at)
        query.set("where", _where(inside))
        exists = placed(exp.Exists(this=query), atom.at)
        self.conditions.append(placed(exp.Not(this=exists), atom.at))


def assigned(bound: Iterable[str], conditions: Iterable[Condition]) -> frozenset[str]:
    """Returns the variables known once assignments have bound what they can."""
    known = set(bound)
    before = -1
    while len(known) != before:
        before = len(known)
        for condition in conditions:
            for target, value in _assignments(condition):
                if all(v.name in known for v in variables(value)):
                    known.add(target.name)
    return frozenset(known)


def _assignments(condition: Condition) -> Iterator[tuple[exp.Column, exp.Expr]]:
    """Returns the variables that a condition may assign, each with its value."""
    test = condition.test
    for target, value in ((test.this, test.expression), (test.expression, test.this)):
        variable = isinstance(target, exp.Column) and not target.table
        if isinstance(test, exp.EQ) and variable and target.name != ANONYMOUS:
            yield target, value


def selected(
    outputs: Iterable[exp.Expr], sources: Iterable[exp.Expr], here: Position
) -> exp.Select:
    """Returns a SELECT of some outputs from sources beside each other."""
    first, *others = sources
    return placed(
        exp.Select(
            expressions=list(outputs),
            from_=exp.From(this=first),
            joins=[exp.Join(this=other) for other in others],
        ),
        here,
    )


def output(name: str, value: exp.Expr, here: Position) -> exp.Alias:
    """Returns an output of a SELECT under a name."""
    return placed(exp.Alias(this=value, alias=exp.Identifier(this=name, quoted=False)), here)


def _equal(left: exp.Expr, right: exp.Expr, here: Position) -> exp.EQ:
    return placed(exp.EQ(this=left.copy(), expression=right.copy()), here)


def _where(conditions: list[exp.Expr]) -> exp.Where | None:
    if not conditions:
        return None
    joined = reduce(lambda a, b: placed(exp.And(this=a, expression=b), at(a)), conditions)
    return exp.Where(this=joined)
