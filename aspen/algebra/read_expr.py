"""Words of a plan line, and the expressions made of them (precedence climbing)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from aspen.algebra.expr import Call, Case, Col, Const, Expr, IsNull, Not, Op, Outer
from aspen.algebra.text import NAME, PRECEDENCE
from aspen.errors import AspenError, Position
from aspen.model.arrays import Array, Element

_STRING = r'"(?:\\.|[^"\\])*"'
_TOKEN = re.compile(
    rf"""\s*(?:
      (?P<name>@{_STRING}|{NAME.pattern})
    | (?P<text>{_STRING})
    | (?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\#-?\w+)
    | (?P<unit>\[(?:{_STRING}|[^\]"\n]*)\])
    | (?P<sign>->|<>|<=|>=|[-+*/%=<>(),?^{{}}])
    )""",
    re.VERBOSE,
)
_CONSTANTS: dict[str, bool | None] = {"NULL": None, "TRUE": True, "FALSE": False}


class PlanTextError(AspenError, code="aspen.algebra.plan_text"):
    """A text that is no plan."""


class Words:
    """The words of one line, read from left to right.

    Args:
        text: the line.
        line: its number, counted from 1.
    """

    def __init__(self, text: str, line: int) -> None:
        self.text = text
        self.line = line
        self._tokens: list[tuple[str, str, int]] = []
        self._at = 0
        index, end = 0, len(text.rstrip())
        while index < end:
            found = _TOKEN.match(text, index)
            if found is None or found.lastgroup is None:
                rest = text[index:].lstrip()
                self._tokens.append(("end", rest, len(text) - len(rest)))
                self._at = len(self._tokens) - 1
                raise self.error("no word of the plan language")
            kind = found.lastgroup
            self._tokens.append((kind, found.group(kind), found.start(kind)))
            index = found.end()
        self._tokens.append(("end", "", end))

    @property
    def kind(self) -> str:
        """What the next word is: name, text, number, unit, sign or end."""
        return self._tokens[self._at][0]

    def peek(self, ahead: int = 0) -> str:
        """Returns a coming word without taking it, empty behind the last."""
        index = self._at + ahead
        return self._tokens[index][1] if index < len(self._tokens) else ""

    def next(self) -> str:
        """Take the next word."""
        word = self.peek()
        if self.kind != "end":
            self._at += 1
        return word

    def back(self) -> None:
        """Returns the last word back."""
        self._at -= 1

    def take(self, word: str) -> bool:
        """Take the next word if it is `word`, spelt plainly."""
        if self.kind in ("name", "sign") and self.peek() == word:
            self._at += 1
            return True
        return False

    def expect(self, word: str) -> None:
        """Take `word` or refuse."""
        if not self.take(word):
            raise self.error(f"expected {word!r}", exists=(word,))

    def name(self) -> str:
        """Take a name, plain or `@"quoted"`."""
        if self.kind != "name":
            raise self.error("expected a name")
        word = self.next()
        return str(json.loads(word[1:])) if word.startswith("@") else word

    def number(self) -> int | float:
        """Take a number; `1` is an INT and `1.0` a FLOAT."""
        if self.kind != "number":
            raise self.error("expected a number")
        word = self.next()
        if word.startswith("#"):
            return float(word[1:])
        return int(word) if word.isdigit() else float(word)

    def end(self) -> None:
        """Refuse further words."""
        if self.kind != "end":
            raise self.error("expected the end of the line")

    def error(self, message: str, *, found: str = "", exists: Sequence[str] = ()) -> PlanTextError:
        """Make the error for the next word."""
        index = self._at if self._at < len(self._tokens) else -1
        _, word, start = self._tokens[index] if self._tokens else ("end", "", 0)
        return PlanTextError(
            message,
            position=Position(self.line, start + 1, max(1, len(word))),
            found=found or word or "end of line",
            exists=exists,
        )


def read_expr(words: Words, above: int = 0) -> Expr:
    """Read an expression whose operators bind tighter than `above`."""
    left = _unary(words)
    while words.kind in ("sign", "name") and words.peek() in PRECEDENCE:
        symbol = words.peek()
        precedence = PRECEDENCE[symbol]
        if precedence <= above:
            break
        words.next()
        left = Op(symbol, left, read_expr(words, precedence))
    return left


def _unary(words: Words) -> Expr:
    if words.take("NOT"):
        return Not(_postfix(words))
    return _postfix(words)


def _postfix(words: Words) -> Expr:
    expr = _primary(words)
    while words.take("IS"):
        words.expect("NULL")
        expr = IsNull(expr)
    return expr


def _primary(words: Words) -> Expr:
    if words.take("("):
        inner = read_expr(words)
        words.expect(")")
        return inner
    if words.take("^"):
        return Outer(words.name())
    if words.take("-"):
        return Const(-words.number())
    if words.kind == "number":
        return Const(words.number())
    if words.kind == "text":
        return Const(str(json.loads(words.next())))
    if words.kind == "name" and words.peek() in _CONSTANTS:
        return Const(_CONSTANTS[words.next()])
    if words.take("{"):
        return Const(_array(words))
    if words.take("CASE"):
        return _case(words)
    name = words.name()
    if not words.take("("):
        return Col(name)
    arguments: list[Expr] = []
    while not words.take(")"):
        if arguments:
            words.expect(",")
        arguments.append(read_expr(words))
    return Call(name, tuple(arguments))


def _array(words: Words) -> Any:
    values: list[Element] = []
    while not words.take("}"):
        if values:
            words.expect(",")
        one = _primary(words)
        if not isinstance(one, Const) or isinstance(one.value, Array):
            raise words.error("expected a constant")
        values.append(one.value)
    return Array(values)


def _case(words: Words) -> Case:
    branches: list[tuple[Expr, Expr]] = []
    while words.take("WHEN"):
        condition = read_expr(words)
        words.expect("THEN")
        branches.append((condition, read_expr(words)))
    words.expect("ELSE")
    otherwise = read_expr(words)
    words.expect("END")
    return Case(tuple(branches), otherwise)
