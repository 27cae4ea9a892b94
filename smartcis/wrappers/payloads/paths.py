"""Paths into JSON: names and indices, as `a.b[0].c` or `a['name with dots'].b`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from smartcis.wrappers.errors import BadConfig

Path = tuple[str | int, ...]

_STEP = re.compile(r"(?:^|\.)([^.\[\]'\"]+)|\[(\d{1,6})\]|\[(?:'([^']*)'|\"([^\"]*)\")\]")


def read_path(text: str) -> Path:
    """Takes a path apart.

    >>> read_path("Wifi.list[0]['a.b']")
    ('Wifi', 'list', 0, 'a.b')

    Raises:
        BadConfig: it is none.
    """
    steps: list[str | int] = []
    at = 0
    while at < len(text):
        step = _STEP.match(text, at)
        if step is None:
            raise BadConfig(
                "a path is names and indices",
                found=text[at : at + 40],
                exists=["temperature", "uplink.values[0]", "['name.with.dots'].value"],
            )
        name, index, single, double = step.groups()
        steps.append(int(index) if index else name or single or double or "")
        at = step.end()
    return tuple(steps)


def picked(value: Any, path: Path) -> Any:
    """Returns what is at a path, None where nothing is."""
    for step in path:
        match value, step:
            case Mapping(), str():
                value = value.get(step)
            case Sequence(), int() if not isinstance(value, str) and step < len(value):
                value = value[step]
            case _:
                return None
    return value
