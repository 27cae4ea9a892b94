"""Text in JSON that no database and no socket takes: half characters and null characters."""

from __future__ import annotations

from typing import Any


def unstorable(value: Any) -> str:
    """Returns what is wrong with some text inside a JSON value, empty when nothing is."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            if "\0" in one:
                return "a null character"
            if any("\ud800" <= character <= "\udfff" for character in one):
                return "half a character"
        elif isinstance(one, dict):
            waiting += (*one.keys(), *one.values())
        elif isinstance(one, list):
            waiting += one
    return ""
