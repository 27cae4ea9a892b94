"""Text → rules, by recursive descent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NoReturn

from sqlglot import exp

from aspen.errors import Position
from aspen.model.schema import INT_MOST
from aspen.overlog.errors import MisplacedHeadAggregate, RuleSyntaxRefused, UnsupportedRule
from aspen.overlog.lex import Token, tokens
from aspen.overlog.syntax import (
    AGGREGATES,
    MOST_OPERATORS,
    Atom,
    Condition,
    Head,
    HeadAggregate,
    Materialize,
    OverlogRule,
    Program,
)
from aspen.streamsql.positions import at, placed
from aspen.streamsql.tree import column_of

_LONGEST = 100_000
_MOST_RULES = 300
_MOST_PARTS = 50
_BIGGEST_FLOAT = 1.7e308
_COMPARISONS: dict[str, type[exp.Binary]] = {
    "=": exp.EQ,
    "==": exp.EQ,
    ":=": exp.EQ,
    "!=": exp.NEQ,
    "<>": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
}
_SUMS: dict[str, type[exp.Binary]] = {"+": exp.Add, "-": exp.Sub}
_PRODUCTS: dict[str, type[exp.Binary]] = {"*": exp.Mul, "/": exp.Div, "%": exp.Mod}
_NOT = ("!", "not", "notin")
_SHAPE = "head(X, Y) :- body(X, Z), other(Z, Y), Z < 10."


def parse(text: str) -> Program:
    """Read a program.

    Raises:
        RuleSyntaxRefused: the text is no rules.
        UnsupportedRule: Overlog that is left out: facts, `delete`, `periodic`.
    """
    if len(text) > _LONGEST:
        raise RuleSyntaxRefused(
            f"a program has at most {_LONGEST:,} characters", found=f"{len(text):,} characters"
        )
    return _Parser(tokens(text)).program()


class _Parser:
    def __init__(self, found: list[Token]) -> None:
        self.tokens = found
        self.index = 0
        self.operators = 0

    @property
    def next(self) -> Token:
        return self.tokens[self.index]

    def after(self, steps: int = 1) -> Token:
        return self.tokens[min(self.index + steps, len(self.tokens) - 1)]

    def take(self) -> Token:
        token = self.next
        if token.kind != "end":
            self.index += 1
        return token

    def accept(self, *spelt: str) -> Token | None:
        return self.take() if self.next.kind != "text" and self.next.text in spelt else None

    def expect(self, spelt: str, why: str) -> Token:
        return self.accept(spelt) or self.refuse(f"expected {spelt!r} {why}", spelt)

    def refuse(self, message: str, *exists: str, attempt: str = _SHAPE) -> NoReturn:
        found = self.next.text or "the end of the text"
        raise RuleSyntaxRefused(
            message, position=self.next.at, found=found, exists=exists, attempt=attempt
        )

    def limit_of(self, count: int, most: int, what: str) -> None:
        if count > most:
            raise UnsupportedRule(
                f"{what} at most {most}",
                position=self.next.at,
                found=str(count),
                attempt="split it, with a predicate in between",
            )

    def operator(self) -> Token:
        self.operators += 1
        self.limit_of(self.operators, MOST_OPERATORS, "operators and brackets in one term:")
        return self.take()

    def word(self, what: str) -> Token:
        if self.next.kind != "word":
            self.refuse(f"expected {what}", attempt=f"names begin with a small letter: {_SHAPE}")
        return self.take()

    def program(self) -> Program:
        rules: list[OverlogRule] = []
        streams: list[Materialize] = []
        while self.next.kind != "end":
            if self.next.text == "materialize" and self.after().text == "(":
                streams.append(self.materialize())
            else:
                rules.append(self.rule())
                self.limit_of(len(rules), _MOST_RULES, "rules in one program:")
        if not rules:
            raise RuleSyntaxRefused("there is no rule in the text", attempt=_SHAPE)
        return Program(tuple(rules), tuple(streams))

    def materialize(self) -> Materialize:
        self.take()
        self.expect("(", "")
        name = self.word("the name of a stream")
        self.expect(",", "before the lifetime in seconds")
        lifetime = self.limit()
        self.expect(",", "before the number of rows")
        rows = self.limit()
        keys: list[int] = []
        if self.accept(","):
            self.expect("keys", "as the last argument of materialize")
            self.expect("(", "after keys")
            keys.append(self.whole())
            while self.accept(","):
                keys.append(self.whole())
            self.expect(")", "after the keys")
        self.expect(")", "at the end of materialize")
        self.expect(".", "at the end of materialize")
        if isinstance(rows, float):
            raise RuleSyntaxRefused("rows are counted in whole numbers", position=name.at)
        return Materialize(name.text, lifetime, rows, tuple(keys), name.at)

    def limit(self) -> int | float | None:
        if self.accept("infinity"):
            return None
        if self.next.kind != "number":
            self.refuse("expected a number or infinity", "infinity")
        return _number(self.take())

    def whole(self) -> int:
        value = _number(self.take()) if self.next.kind == "number" else None
        if not isinstance(value, int):
            self.refuse("expected the number of a column, from 1")
        return value

    def rule(self) -> OverlogRule:
        if self.next.text == "delete" and self.after().kind == "word":
            raise UnsupportedRule(
                "rules derive, they delete nothing",
                position=self.next.at,
                found="delete",
                attempt="a row goes when what it rests on goes; or say when it holds with !…",
            )
        if self.next.kind == "word" and self.after().kind == "word":
            self.take()  # a label: `r1 path(X, Y) :- …`
        head = self.head()
        atoms: list[Atom] = []
        conditions: list[Condition] = []
        if self.next.text != ":-":
            if self.next.text == ".":
                raise UnsupportedRule(
                    f"{head.predicate} is given as a fact; facts are rows of tables",
                    position=head.at,
                    found=head.predicate,
                    attempt="insert the row into a table and read the table",
                )
            self.refuse("expected ':-' after the head", ":-", ".")
        self.take()
        self.literal(atoms, conditions)
        while self.accept(","):
            self.literal(atoms, conditions)
            self.limit_of(len(atoms) + len(conditions), _MOST_PARTS, "parts of one body:")
        self.expect(".", "or ',' after a part of the body")
        return OverlogRule(head, tuple(atoms), tuple(conditions))

    def head(self) -> Head:
        name = self.word("the predicate a rule derives")
        self.expect("(", f"after {name.text}")
        arguments = [self.head_argument()]
        while self.accept(","):
            arguments.append(self.head_argument())
        self.expect(")", f"after the arguments of {name.text}")
        return Head(name.text, tuple(arguments), name.at)

    def head_argument(self) -> exp.Expr | HeadAggregate:
        self.operators = 0
        self.accept("@")  # where a row lives is the federation's to decide
        if self.next.kind != "word" or not self.after().text.startswith("<"):
            return self.term()
        name = self.take()
        function = name.text.removeprefix("a_")
        if function not in AGGREGATES:
            raise RuleSyntaxRefused(
                f"there is no aggregate {name.text!r}",
                position=name.at,
                found=name.text,
                exists=AGGREGATES,
            )
        if self.accept("<>"):
            argument = None
        else:
            self.expect("<", f"after {name.text}")
            argument = None if self.accept("*") else self.term()
            self.expect(">", "at the end of an aggregate")
        if argument is None and function != "count":
            raise RuleSyntaxRefused(
                f"{function} needs something to aggregate",
                position=name.at,
                found=f"{function}<*>",
                exists=("count<*>",),
                attempt=f"name a variable: {function}<C>",
            )
        return HeadAggregate(function, argument, name.at)

    def literal(self, atoms: list[Atom], conditions: list[Condition]) -> None:
        self.operators = 0
        sign = self.accept(*_NOT) if self.after().kind == "word" else None
        begin = self.next
        if begin.kind == "word" and begin.text in AGGREGATES and self.after().text == "<":
            raise MisplacedHeadAggregate(
                "an aggregate stands in the head of a rule",
                position=begin.at,
                found=begin.text,
                attempt="derive the aggregate with a rule of its own and read that",
            )
        left = self.term()
        compared = _COMPARISONS.get(self.next.text) if self.next.kind == "symbol" else None
        if compared is None or sign is not None:
            if not isinstance(left, exp.Anonymous):
                self.refuse("expected a comparison or a predicate", "=", "<", ">", "!=")
            atoms.append(Atom(left.name, tuple(left.expressions), sign is not None, at(left)))
            return
        self.take()
        right = self.term()
        end = self.tokens[self.index - 1].at
        here = _span(begin.at, end)
        conditions.append(Condition(placed(compared(this=left, expression=right), here), here))

    def term(self) -> exp.Expr:
        return self.chain(_SUMS, self.product)

    def product(self) -> exp.Expr:
        return self.chain(_PRODUCTS, self.factor)

    def chain(
        self, operators: Mapping[str, type[exp.Binary]], operand: Callable[[], exp.Expr]
    ) -> exp.Expr:
        left = operand()
        while self.next.kind == "symbol" and self.next.text in operators:
            symbol = self.operator()
            made = operators[symbol.text](this=left, expression=operand())
            left = placed(made, symbol.at)
        return left

    def factor(self) -> exp.Expr:
        token = self.next
        match token.kind:
            case "number":
                return placed(exp.Literal.number(_number(self.take())), token.at)
            case "text":
                quote = token.text[0]
                text = self.take().text[1:-1].replace(quote * 2, quote)
                return placed(exp.Literal.string(text), token.at)
            case "variable":
                return column_of("", self.take().text, token.at)
            case "word" if token.text in ("true", "false"):
                return placed(exp.Boolean(this=self.take().text == "true"), token.at)
            case "word" if self.after().text == "(":
                return self.call()
            case "word":
                self.refuse(
                    f"{token.text!r} is neither a variable nor a text",
                    attempt="variables begin with a capital, texts stand in quotes",
                )
        if self.next.text == "(":
            self.operator()
            inner = self.term()
            self.expect(")", "to close the bracket")
            return inner
        if self.next.text != "-":
            self.refuse("expected a variable, a constant or a predicate")
        self.operator()
        value = self.factor()
        literal = isinstance(value, exp.Literal)
        return placed(exp.Neg(this=value), _span(token.at, at(value)) if literal else token.at)

    def call(self) -> exp.Anonymous:
        name = self.operator()
        self.expect("(", f"after {name.text}")
        arguments: list[exp.Expr] = []
        while not self.accept(")"):
            if arguments:
                self.expect(",", f"or ')' in {name.text}(…)")
            self.accept("@")
            arguments.append(self.term())
        return placed(exp.Anonymous(this=name.text, expressions=arguments), name.at)


def _number(token: Token) -> int | float:
    # Python itself refuses to read whole numbers of thousands of digits.
    value = float(token.text)
    whole = "." not in token.text
    if abs(value) > (INT_MOST if whole else _BIGGEST_FLOAT):
        raise RuleSyntaxRefused(
            "the number is too large",
            position=token.at,
            found=token.text[:40],
            attempt=f"whole numbers go up to {INT_MOST}",
        )
    return int(token.text) if whole else value


def _span(begin: Position, end: Position) -> Position:
    """Returns the span from one token to another; of several lines, the first token's."""
    if begin.line != end.line:
        return begin
    return Position(begin.line, begin.column, end.column + end.length - begin.column)
