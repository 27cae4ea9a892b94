"""Inventory cells: what the texts of a row mean, or why they mean nothing."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from typing import Any

from smartcis.errors import Invalid, unknown
from smartcis.models import Unit

NONE = "-"
"""Stands for nothing; an empty cell says nothing."""
_YES = frozenset({"yes", "y", "true", "1", "x", "on", "ja", "j", "wahr", "ein", "an"})
_NO = frozenset({"no", "n", "false", "0", NONE, "off", "nein", "falsch", "aus"})
_IN_PATHS = re.compile(r"[^/\s]+")


def text(cell: str) -> str:
    """Returns a text, empty for a dash."""
    return "" if cell == NONE else cell


def name_in_paths(cell: str) -> str:
    """Returns an id that can stand in a path.

    Raises:
        Invalid: it has blanks or slashes, or signs that nobody sees.
    """
    if not _IN_PATHS.fullmatch(cell) or not cell.isprintable():
        raise Invalid("an id has neither blanks nor slashes", found=cell[:80])
    return cell


def number(cell: str) -> float:
    """Returns a number, its decimals behind a point or a comma.

    Raises:
        Invalid: it is none.
    """
    try:
        value = float(cell.replace(",", "."))
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise Invalid(f"{cell[:40]!r} is no number", found=cell[:80], attempt="write it as 12.5")
    return value


def yes_or_no(cell: str) -> bool:
    """Returns what a word of assent or denial says.

    Raises:
        Invalid: it is neither.
    """
    word = cell.lower()
    if word not in _YES | _NO:
        raise Invalid(f"{cell[:40]!r} is neither yes nor no", found=cell[:80], exists=["yes", "no"])
    return word in _YES


def programs(cell: str) -> tuple[str, ...]:
    """Returns the programs of a list separated by semicolons, in order."""
    return tuple(sorted({one.strip() for one in text(cell).split(";")} - {""}))


def room_finder() -> Callable[[str], str]:
    """Returns what finds the id of a room by id or name, whatever their case."""
    rids: dict[str, str] = {}
    named: dict[str, list[str]] = defaultdict(list)
    for rid, name in Unit.objects.order_by("pk").values_list("rid", "name"):
        rids[rid] = rid
        for word in dict.fromkeys((rid.casefold(), name.casefold())):
            named[word].append(rid)

    @cache
    def found(cell: str) -> str:
        fits = [rids[cell]] if cell in rids else named.get(cell.casefold(), [])
        if len(fits) > 1:
            raise Invalid(
                f"{len(fits)} rooms are called {cell[:40]!r}",
                found=cell[:80],
                exists=fits[:8],
                attempt="say which by its id",
            )
        if not cell or not fits:
            raise unknown("room", cell, {*rids, *(one for one in named if one)})
        return fits[0]

    return found


def shown(value: Any) -> str:
    """Returns a value as a cell says it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return "; ".join(value)
    return f"{value:.12g}" if isinstance(value, float) else str(value or "")
