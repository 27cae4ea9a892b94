"""Words of the plan language that printer and reader share: names, types, constants, precedence."""

from __future__ import annotations

import json
import math
import re

from aspen.model.arrays import Array
from aspen.model.schema import Column, Value

NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
RESERVED = frozenset({"AND", "OR", "NOT", "IS", "NULL", "TRUE", "FALSE", "CASE"})

PRECEDENCE = {
    "OR": 1,
    "AND": 2,
    "=": 4,
    "<>": 4,
    "<": 4,
    "<=": 4,
    ">": 4,
    ">=": 4,
    "+": 5,
    "-": 5,
    "*": 6,
    "/": 6,
    "%": 6,
}


def quoted(text: str) -> str:
    """Write any text as one word on one line."""
    return json.dumps(text, ensure_ascii=False)


def name_text(name: str) -> str:
    """Write a name: plain where it reads as one, else `@"odd name"`."""
    return name if NAME.fullmatch(name) and name not in RESERVED else "@" + quoted(name)


def value_text(value: Value) -> str:
    """Write a constant so that its type can be read back."""
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case str():
            return quoted(value)
        case float() if not math.isfinite(value):
            return f"#{value}"
        case Array():
            return f"{{{', '.join(map(value_text, value))}}}"
        case _:
            return repr(value)


def column_text(column: Column) -> str:
    """Write a column: `name TYPE[unit]?`, the mark where it may be null."""
    unit = ""
    if column.unit:
        plain = not re.search(r'[\]"\n]', column.unit)
        unit = f"[{column.unit if plain else quoted(column.unit)}]"
    null = "?" if column.nullable else ""
    return f"{name_text(column.name)} {name_text(column.type.value)}{unit}{null}"
