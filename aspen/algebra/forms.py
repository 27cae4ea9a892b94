"""Forms: how a value stands in plan text, written and read back by one description."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from aspen.algebra.read_expr import Words
from aspen.algebra.text import column_text, name_text, value_text
from aspen.model.schema import Column, Type

REQUIRED = object()
"""Stands for the value of a field that is always written."""


@dataclass(frozen=True, slots=True)
class Form:
    """How a value is written and read.

    Law: what is written is read as the same value.
    """

    write: Callable[[Any], str]
    read: Callable[[Words], Any]


@dataclass(frozen=True, slots=True)
class NodeField:
    """A field of a node.

    Args:
        word: that stands before the value; one without stands at the end where it may be absent.
        absent: the value that is not written.
    """

    name: str
    form: Form
    word: str = ""
    absent: Any = REQUIRED

    def text(self, node: object) -> str:
        """Write it behind what stands before; nothing where it is absent."""
        value = getattr(node, self.name)
        if self.absent is not REQUIRED and value == self.absent:
            return ""
        return "".join(f" {part}" for part in (self.word, self.form.write(value)) if part)

    def read(self, words: Words) -> Any:
        """Read it back."""
        if self.absent is REQUIRED:
            if self.word:
                words.expect(self.word)
            return self.form.read(words)
        there = words.take(self.word) if self.word else words.kind != "end"
        return self.form.read(words) if there else self.absent


@dataclass(frozen=True)
class Record:
    """Fields one behind the other, and what is made of them, called with their names."""

    make: Callable[..., Any]
    fields: tuple[NodeField, ...]

    def text(self, value: object) -> str:
        """Write the fields, each behind a space."""
        return "".join(field.text(value) for field in self.fields)

    def read(self, words: Words) -> dict[str, Any]:
        """Read the fields."""
        return {field.name: field.read(words) for field in self.fields}


def record(make: Callable[..., Any], *fields: NodeField) -> Form:
    """Several fields as one value."""
    every = Record(make, fields)
    return Form(lambda value: every.text(value)[1:], lambda words: make(**every.read(words)))


def flag(name: str, word: str, *, absent: bool = False) -> NodeField:
    """A truth value, told by whether a word is there."""
    return NodeField(name, Form(lambda _: "", lambda _: not absent), word, absent)


def listed(item: Form, between: str = ",") -> Form:
    """One value or more, with a word between them."""

    def read(words: Words) -> tuple[Any, ...]:
        found = [item.read(words)]
        while words.take(between):
            found.append(item.read(words))
        return tuple(found)

    glue = ", " if between == "," else f" {between} "
    return Form(lambda values: glue.join(map(item.write, values)), read)


def enclosed(item: Form) -> Form:
    """Values in parentheses, perhaps none."""
    inside = listed(item)

    def read(words: Words) -> tuple[Any, ...]:
        words.expect("(")
        if words.take(")"):
            return ()
        found: tuple[Any, ...] = inside.read(words)
        words.expect(")")
        return found

    return Form(lambda values: f"({inside.write(values)})", read)


def paired(left: Form, sign: str, right: Form) -> Form:
    """Two values with a sign between them."""

    def read(words: Words) -> tuple[Any, Any]:
        one = left.read(words)
        words.expect(sign)
        return one, right.read(words)

    return Form(lambda pair: f"{left.write(pair[0])} {sign} {right.write(pair[1])}", read)


def one_of(kinds: type[Enum], what: str) -> Form:
    """A member of an enumeration, by its value."""
    known = {kind.value: kind for kind in kinds}

    def read(words: Words) -> Enum:
        spelling = words.name()
        if spelling not in known:
            words.back()
            raise words.error(f"no such {what}", exists=tuple(known))
        return known[spelling]

    return Form(lambda kind: str(kind.value), read)


NAME = Form(name_text, Words.name)
NUMBER = Form(value_text, Words.number)
INT = Form(str, lambda words: int(words.number()))


def _type(words: Words) -> Type:
    spelling = words.name()
    try:
        return Type(spelling)
    except ValueError:
        words.back()
        raise words.error("no such type", exists=tuple(kind.value for kind in Type)) from None


def _column(words: Words) -> Column:
    name, kind, unit = words.name(), _type(words), ""
    if words.kind == "unit":
        inside = words.next()[1:-1]
        unit = json.loads(inside) if inside.startswith('"') else inside
    return Column(name, kind, unit, words.take("?"))


COLUMN = Form(column_text, _column)
NAMES = listed(NAME)
COLUMNS = enclosed(COLUMN)
