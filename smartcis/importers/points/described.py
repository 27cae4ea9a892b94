"""Described points: what Brick models and Haystack tags are read into.

text ── Turtle or JSON? ── brick.py, haystack.py ──> points, and what was not understood
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

LARGEST_BYTES = 700_000  # it travels in a page, until somebody accepts it
MOST_POINTS = 10_000
_LEADING = re.compile(r"^(?:room|space|office|zone|rm|r)[\s_.\-]+", re.IGNORECASE)
_BETWEEN = re.compile(r"[\s_.\-]+")


@dataclass(frozen=True, slots=True)
class DescribedThing:
    """A sensor as a description of the building has it.

    Args:
        point: its own id there.
        names: under which its device may be heard, among them the id.
        title: for people.
        kind: of sensor.
        unit: as it is written here, empty where none is said.
        places: the rooms it may be in, each by all names that the description gives it.
        equipment: what it belongs to.
    """

    point: str
    names: tuple[str, ...]
    title: str
    kind: str
    unit: str
    places: tuple[tuple[str, ...], ...]
    equipment: str


@dataclass(frozen=True, slots=True)
class Description:
    """All sensors of a description.

    Args:
        things: those that were understood.
        strange: what was not, a sentence each.
    """

    things: tuple[DescribedThing, ...]
    strange: tuple[str, ...]


def strange_classes(classes: Iterable[str]) -> list[str]:
    """Returns a sentence for each class of points that is no kind of sensor here, most first."""
    counted = Counter(classes).most_common()
    return [f"{name} ({count}): no kind of sensor here measures it" for name, count in counted]


def plain(name: str) -> str:
    """Returns a name as names are compared.

    >>> plain("Room C-180") == plain("c 180")
    True
    """
    return _BETWEEN.sub("", _LEADING.sub("", name.strip())).casefold()


def rooms_of(
    places: Iterable[tuple[str, ...]], known: Mapping[str, frozenset[str]]
) -> frozenset[str]:
    """Returns the rooms that places may be.

    Args:
        known: rooms by their plain names.
    """
    return frozenset(
        rid for names in places for name in names for rid in known.get(plain(name), frozenset())
    )
