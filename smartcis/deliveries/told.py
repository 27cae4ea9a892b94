"""Told: the fold of all that a query's outputs were sent, row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from aspen.model.arrays import row_in
from aspen.model.delta import Delta
from aspen.model.schema import Row
from smartcis.models import Outlet, ToldRow
from smartcis.models.own_tables import digest_of
from smartcis.models.source import batched

AT_ONCE = 500
"""Digests in one question to the database."""


@dataclass(frozen=True, slots=True)
class RowChange:
    """A row that came or went.

    Args:
        key: digest of what it is about, empty where no alarm asks.
        before, after: how often it stood and stands.
    """

    row: Row
    digest: str
    key: str
    before: int
    after: int


def fold(outlet: Outlet, delta: Delta, key: Callable[[Row], str]) -> list[RowChange]:
    """Notes that rows came and went; runs in a transaction.

    Args:
        key: gives the digest of what a row is about.
    """
    digests = {digest_of(row): row for row in delta}
    known = {one.digest: one for one in _told(outlet, digest__in=list(digests))}
    changes, made, moved, gone = [], [], [], []
    for digest, row in digests.items():
        sent = known.get(digest)
        before = 0 if sent is None else sent.weight
        after = before + delta[row]
        changes.append(RowChange(row, digest, key(row), before, after))
        if sent is None:
            fresh = ToldRow(outlet=outlet, digest=digest, row=list(row), weight=after)
            fresh.key = changes[-1].key
            made.append(fresh)
        elif after:
            sent.weight = after
            moved.append(sent)
        else:
            gone.append(sent.pk)
    ToldRow.objects.bulk_create(made)
    ToldRow.objects.bulk_update(moved, ["weight"], batch_size=AT_ONCE)
    for part in batched(gone, AT_ONCE):
        ToldRow.objects.filter(pk__in=part).delete()
    return changes


def rows_by_key(outlet: Outlet, keys: Iterable[str]) -> dict[str, list[Row]]:
    """Returns the rows that stand, by the digest of what they are about; an empty list for none."""
    found: dict[str, list[Row]] = {key: [] for key in keys}
    for one in _told(outlet, key__in=list(found)):
        if one.weight > 0:
            found[one.key].append(row_in(one.row))
    return found


def _told(outlet: Outlet, **wanted: list[str]) -> list[ToldRow]:
    ((field, values),) = wanted.items()
    return [one for part in batched(values, AT_ONCE) for one in outlet.told.filter(**{field: part})]
