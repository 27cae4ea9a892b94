"""JSON from outside: one way to read it, for every door.

    bytes ── length ── UTF-8 ── JSON ── numbers ── nesting ── text ──> a value anybody can keep

Law:        what is given back is written as JSON again by any encoder, stored by any database, and
            walked by any recursion; everything else is one error that says what is wrong.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any, NoReturn

from aspen.errors import AspenError

DEPTH = 64  # drawings of buildings need nine
LARGEST_INT = 2**63 - 1
FOUND_LENGTH = 40


class BadJSON(AspenError, code="smartcis.bad_json"):
    """Bytes that are no JSON, or JSON that nobody can compute with."""


def decoded(data: bytes | str, at_most_bytes: int | None = None) -> Any:
    """Reads JSON from outside.

    Raises:
        BadJSON: too long, not UTF-8, not JSON, nested deeper than 64, the same name twice in one
            object, NaN, Infinity, a number that fits no 64 bits, a null character or half a one.
    """
    if at_most_bytes is not None and len(data) > at_most_bytes:
        raise BadJSON(
            "the JSON is too long",
            found=f"{len(data)} bytes",
            exists=[f"up to {at_most_bytes} bytes"],
            attempt="send it in smaller pieces",
        )
    try:
        text = data.decode() if isinstance(data, bytes) else data
        value = _read(text)
        _check_depth(value)
    except RecursionError:
        raise BadJSON(
            "the JSON is nested too deeply", found=_spelt(data), exists=[f"up to {DEPTH} levels"]
        ) from None
    except BadJSON:
        raise
    except UnicodeError as error:
        raise BadJSON("the JSON is not UTF-8", found=_spelt(data)) from error
    except ValueError as error:
        raise BadJSON(f"not JSON: {error}", found=_spelt(data)) from error
    # Half characters and null characters come as escapes, or in a text that was never bytes.
    if ("\\u" in text or isinstance(data, str)) and (fault := unstorable(value)):
        raise BadJSON(f"the JSON holds {fault}", found=_spelt(data))
    return value


def _read(text: str) -> Any:
    return json.loads(
        text,
        parse_int=_whole,
        parse_float=_finite,
        parse_constant=_no_number,
        object_pairs_hook=_object,
    )


def _whole(text: str) -> int:
    if len(text) <= len(str(LARGEST_INT)) + 1 and abs(number := int(text)) <= LARGEST_INT:
        return number
    raise BadJSON("the JSON holds a whole number of more than 64 bits", found=_spelt(text))


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise BadJSON("the JSON holds a number that is too large", found=_spelt(text))
    return number


def _no_number(text: str) -> NoReturn:
    raise BadJSON(f"the JSON holds {text}, which is no number", found=text)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise BadJSON("an object of the JSON says the same name twice", found=_spelt(twice))
    return found


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(DEPTH + 1):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return
    raise RecursionError


def _spelt(data: bytes | str) -> str:
    """Returns the beginning of what was sent, in characters that any log takes."""
    if isinstance(data, str):
        data = data[:FOUND_LENGTH].encode(errors="backslashreplace")
    return data[:FOUND_LENGTH].decode(errors="backslashreplace").replace("\0", "\\x00")


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
