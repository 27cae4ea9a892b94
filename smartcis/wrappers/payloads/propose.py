"""Proposals: what of a message could be mapped, for somebody who sets a source up."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from aspen.errors import AspenError
from smartcis.json_text import decoded
from smartcis.wrappers.payloads.fields import DEPTH, field_named, number
from smartcis.wrappers.payloads.protocol import Message
from smartcis.wrappers.protocol import PayloadMapping

NUMBERS = 40  # of one message


@dataclass(frozen=True, slots=True)
class Proposal:
    """A number in a message, and the mapping that would read it.

    Args:
        value: the number as it is now.
        mapping: its kind is empty where the name says nothing.
    """

    value: float
    mapping: PayloadMapping


def proposals(message: Message) -> list[Proposal]:
    """Returns a mapping for each number of a message; none for what has no numbers."""
    try:
        payload: Any = decoded(message.data)
    except AspenError:
        payload = message.data.decode(errors="replace")
    *above, last = message.levels
    topic, device = "/".join([*above, "{device}"]), "{device}"
    if last.lower() in ("state", "status", "value", "sensor", "data", "up") and above:
        topic, device = "/".join([*above[:-1], "{device}", last]), "{device}"
    found = []
    for path, name, value in _numbers(payload, "", last, 0):
        field = field_named(name)
        kind, unit = (field.quantity, field.unit) if field is not None else ("", "")
        turned = field is not None and field.inverted
        identity = f"{device}.{kind or name}"
        mapping = PayloadMapping(
            topic=topic,
            path=path,
            kind=kind,
            unit=unit,
            scale=-1.0 if turned else 1.0,
            offset=1.0 if turned else 0.0,
            identity="".join(one for one in identity if one not in " \t/"),
        )
        found.append(Proposal(value, mapping))
    return found[:NUMBERS]


def _numbers(value: Any, path: str, name: str, depth: int) -> Iterator[tuple[str, str, float]]:
    """Returns path, name and value of each number."""
    if isinstance(value, dict | list):
        if depth > DEPTH:
            return
        inner = value.items() if isinstance(value, dict) else enumerate(value)
        for key, one in inner:
            yield from _numbers(one, _deeper(path, key), str(key), depth + 1)
    elif (measured := number(value)) is not None:
        yield path, name, measured


def _deeper(path: str, key: str | int) -> str:
    if isinstance(key, int):
        return f"{path}[{key}]"
    if key and not set(key) & set(".[]'\""):
        return f"{path}.{key}" if path else key
    quoted = f"'{key}'" if "'" not in key else json.dumps(key, ensure_ascii=False)
    return f"{path}[{quoted}]"
