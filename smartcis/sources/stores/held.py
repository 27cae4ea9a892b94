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
        for keys in batched(gone, PKS_AT_ONCE):
            SourceRow.objects.filter(pk__in=keys).delete()
        fresh = [
            SourceRow(source_id=source, relation=relation, key=key, row=list(row))
            for key, row in rows.items()
            if key not in kept
        ]
        SourceRow.objects.bulk_create(fresh)
    return len(held.keys() - kept | rows.keys() - kept)
