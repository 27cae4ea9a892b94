"""One rule's body → FROM and WHERE, and what each variable stands for there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce

from aspen.overlog.errors import SyntaxRefused, UnboundVariable, Unsupported
from aspen.overlog.syntax import (
    ANONYMOUS,
    MOST_OPERATORS,
    Atom,
    Condition,
    Rule,
    anonymous,
    operators,
    variables,
)
from aspen.streamsql.ast import (
    Binary,
    Choice,
    Exists,
    Expression,
    Function,
    Item,
    Literal,
    Name,
    Negation,
    NullTest,
    Scalar,
    SelectQuery,
    Source,
)

MakeSource = Callable[[Atom, str], Source]
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
    sources: list[Source] = field(default_factory=list)
    values: dict[str, Expression] = field(default_factory=dict)
    conditions: list[Expression] = field(default_factory=list)
    read: list[Name] = field(default_factory=list)
    aliases: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, rule: Rule, columns: Mapping[str, tuple[str, ...]], source: MakeSource) -> Body:
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

    @property
    def where(self) -> Expression | None:
        """The conditions, joined by AND."""
        return _all(self.conditions)

    def replaced(self, term: Expression, where: str) -> Expression:
        """Returns a term over columns instead of variables.

        Args:
            where: for the message: `in the head of p`.

        Raises:
            UnboundVariable: nothing binds a variable of it.
        """
        hidden = anonymous(term)
        if hidden is not None:
            raise SyntaxRefused(
                f"_ stands for nothing in particular, so it cannot stand {where}",
                position=hidden.at,
                found=ANONYMOUS,
                attempt="name a variable that the body binds",
            )
        for variable in variables(term):
            if variable.name not in self.values:
                raise self._unbound(variable, where)
        return _mapped(term, self._value)

    def _unbound(self, variable: Name, where: str) -> UnboundVariable:
        return UnboundVariable(
            f"nothing binds {variable.name} {where}",
            position=variable.at,
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
            own = Name(alias, column, argument.at)
            self.read.append(own)
            if isinstance(argument, Name):
                if argument.name == ANONYMOUS:
                    continue
                known = self.values.setdefault(argument.name, own)
                if known != own:
                    self.conditions.append(Binary("=", known, own, argument.at))
            else:
                terms.append(Condition(Binary("=", own, argument, own.at), own.at))
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
            unbound = [v for v in self._open(waiting[0].test) if v.name not in self.values]
            # Of `C = C1 + 1` it is C1 that is missing.
            raise self._unbound(unbound[-1], "in a condition")

    def _assign(self, condition: Condition) -> bool:
        match condition.test:
            case Binary("=", left, right):
                for target, value in ((left, right), (right, left)):
                    if (
                        isinstance(target, Name)
                        and not target.qualifier
                        and target.name != ANONYMOUS
                        and target.name not in self.values
                        and all(v.name in self.values for v in self._open(value))
                    ):
                        self.values[target.name] = self._term(value)
                        if operators(self.values[target.name]) > MOST_OPERATORS:
                            raise Unsupported(
                                f"{target.name} is computed in more than"
                                f" {MOST_OPERATORS} operators",
                                position=condition.at,
                                found=target.name,
                                attempt="split the rule, with a predicate in between",
                            )
                        return True
        return False

    def _bound(self, test: Expression) -> bool:
        if any(v.name not in self.values for v in self._open(test)):
            return False
        self.conditions.append(self._term(test))
        return True

    def _open(self, term: Expression) -> list[Name]:
        """Returns the variables of a term; a qualified name is a column already."""
        return [v for v in variables(term) if not v.qualifier]

    def _term(self, term: Expression) -> Expression:
        hidden = anonymous(term)
        if hidden is not None:
            return self.replaced(term, "in a condition")
        return _mapped(term, self._value)

    def _value(self, name: Name) -> Expression:
        """Returns what a variable stands for; a column is spoken of where it is used."""
        if name.qualifier:
            return name
        value = self.values[name.name]
        return replace(value, at=name.at) if isinstance(value, Name) else value

    def _without(self, atom: Atom) -> None:
        """Add NOT EXISTS."""
        alias = self._alias(atom.predicate)
        inside: list[Expression] = []
        for column, argument in zip(self.columns[atom.predicate], atom.arguments, strict=True):
            if isinstance(argument, Name) and argument.name == ANONYMOUS:
                continue
            value = self.replaced(argument, f"in !{atom.predicate}(…)")
            inside.append(Binary("=", Name(alias, column, argument.at), value, argument.at))
        query = SelectQuery(
            (Item(Literal(1, atom.at), at=atom.at),),
            (self.source(atom, alias),),
            _all(inside),
            at=atom.at,
        )
        self.conditions.append(Negation(Exists(query, at=atom.at), atom.at))


def assigned(bound: Iterable[str], conditions: Iterable[Condition]) -> frozenset[str]:
    """Returns the variables known once assignments have bound what they can."""
    known = set(bound)
    before = -1
    while len(known) != before:
        before = len(known)
        for condition in conditions:
            match condition.test:
                case Binary("=", left, right):
                    for target, value in ((left, right), (right, left)):
                        if isinstance(target, Name) and all(
                            v.name in known for v in variables(value)
                        ):
                            known.add(target.name)
    return frozenset(known)


def _all(conditions: list[Expression]) -> Expression | None:
    if not conditions:
        return None
    return reduce(lambda a, b: Binary("AND", a, b, a.at), conditions)


def _mapped(term: Expression, value: Callable[[Name], Expression]) -> Expression:
    """Replace the names of a term."""
    match term:
        case Name():
            return value(term)
        case Binary(symbol, left, right, at):
            return Binary(symbol, _mapped(left, value), _mapped(right, value), at)
        case Negation(inner, at):
            return Negation(_mapped(inner, value), at)
        case Function(_, arguments):
            return replace(term, arguments=tuple(_mapped(a, value) for a in arguments))
        case Literal() | NullTest() | Choice() | Exists() | Scalar():
            return term
