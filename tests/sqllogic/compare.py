"""Whether a result is what a file expects; the difference in words where it is not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from aspen.model.schema import Row
from tests.sqllogic.records import Query
from tests.sqllogic.values import arranged, digest, expected_rows, meaning, meant, strict

_SHOWN = 6


def difference(record: Query, rows: Sequence[Row], order: Sequence[Any] | None) -> str:
    """Compare a result with what a record expects.

    Args:
        rows: in the order they are shown.
        order: what each row is ordered by, None where no order was asked for.

    Returns:
        What differs; empty when nothing does.
    """
    width = len(rows[0]) if rows else len(record.types)
    values = strict(rows, record.types)
    if record.digest:
        return _hashed(record, values)
    wanted = expected_rows(record.expected, width, len(rows))
    sort = record.sort
    if sort == "nosort" and order is None:
        # Rows of a view have no order of their own; files written for one that has still hold.
        sort = "rowsort"
    if arranged(wanted, sort) == arranged(values, sort):
        return ""
    meanings = [[meant(value) for value in row] for row in rows]
    hoped = [[meaning(text) for text in row] for row in wanted]
    if arranged(hoped, sort) == arranged(meanings, sort):
        return ""
    if order is not None and sort == "nosort" and _agrees(hoped, meanings, order):
        return ""
    return _told(wanted, values)


def _hashed(record: Query, values: list[list[str]]) -> str:
    found = arranged(values, record.sort)
    if len(found) != record.count:
        return f"{record.count} values expected, {len(found)} found"
    if digest(found) == record.digest or digest(arranged(values, "rowsort")) == record.digest:
        return ""
    return f"{record.count} values hash to {digest(found)}, not to {record.digest}"


def _agrees(hoped: list[list[str]], meanings: list[list[str]], order: Sequence[Any]) -> bool:
    """Whether the expectation is another order of the same rows that obeys the keys too."""
    if Counter(map(tuple, hoped)) != Counter(map(tuple, meanings)):
        return False
    keys: dict[tuple[str, ...], list[Any]] = {}
    for row, key in zip(meanings, order, strict=True):
        keys.setdefault(tuple(row), []).append(key)
    walked = [keys[tuple(row)].pop(0) for row in hoped]
    return all(one == other or one < other for one, other in pairwise(walked))


def _told(wanted: list[list[str]], values: list[list[str]]) -> str:
    missing = Counter(map(tuple, wanted)) - Counter(map(tuple, values))
    extra = Counter(map(tuple, values)) - Counter(map(tuple, wanted))
    parts = [f"{len(wanted)} rows expected, {len(values)} found"]
    for word, rows in (("missing", missing), ("too many", extra)):
        if rows:
            some = "; ".join(", ".join(row) for row in list(rows.elements())[:_SHOWN])
            parts.append(f"{word}: {some}")
    if not missing and not extra:
        parts.append("in another order")
    return "; ".join(parts)
