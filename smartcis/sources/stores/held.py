"""Rows of declared relations, kept as they came.

Law: afterwards the source's rows of the relation are exactly the given ones; a row that did not
change is not written.
"""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction

from aspen.model.schema import Row
from smartcis.models import SourceRow
from smartcis.models.source import PKS_AT_ONCE, batched
from smartcis.wrappers.protocol import Changed


def store_held(source: str, relation: str, rows: Mapping[str, Row]) -> int:
    """Makes a source's rows of `relation` equal to `rows`.

    Returns:
        How many were added, changed or removed.
    """
    with transaction.atomic():
        stored = SourceRow.objects.filter(source_id=source, relation=relation)
        held = {one.key: one for one in stored}
        kept = {key for key, one in held.items() if rows.get(key) == tuple(one.row)}
        gone = [one.pk for key, one in held.items() if key not in kept]
        _remove(gone)
        fresh = [
            SourceRow(source_id=source, relation=relation, key=key, row=list(row))
            for key, row in rows.items()
            if key not in kept
        ]
        SourceRow.objects.bulk_create(fresh)
    return len(held.keys() - kept | rows.keys() - kept)


def change_held(source: str, changed: Changed) -> int:
    """Adds, changes and removes a source's rows; the others are looked at only where some are over.

    Returns:
        How many were added, changed or removed.
    """
    with transaction.atomic():
        stored = SourceRow.objects.filter(source_id=source, relation=changed.relation)
        held = {
            one.key: one
            for keys in batched([*changed.rows, *changed.gone], PKS_AT_ONCE)
            for one in stored.filter(key__in=keys)
        }
        kept = {key for key, one in held.items() if changed.rows.get(key) == tuple(one.row)}
        _remove([one.pk for key, one in held.items() if key not in kept])
        fresh = [
            SourceRow(source_id=source, relation=changed.relation, key=key, row=list(row))
            for key, row in changed.rows.items()
            if key not in kept
        ]
        SourceRow.objects.bulk_create(fresh)
        over: list[int] = []
        if stored.count() != changed.count:
            there = changed.keys()
            over = [pk for pk, key in stored.values_list("pk", "key") if key not in there]
            _remove(over)
    return len(held.keys() - kept | changed.rows.keys() - kept) + len(over)


def _remove(pks: list[int]) -> None:
    for some in batched(pks, PKS_AT_ONCE):
        SourceRow.objects.filter(pk__in=some).delete()
