"""Rows of declared relations, kept as they came.

Law: afterwards the source's rows of the relation are exactly the given ones; a row that did not
change is not written.
"""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction

from aspen.model.schema import Row
from smartcis.models import SourceRow


def store_held(source: str, relation: str, rows: Mapping[str, Row]) -> int:
    """Make a source's rows of `relation` equal to `rows`.

    Returns:
        How many were added, changed or removed.
    """
    with transaction.atomic():
        stored = SourceRow.objects.filter(source_id=source, relation=relation)
        held = {one.key: one for one in stored}
        gone = [one.pk for key, one in held.items() if key not in rows]
        SourceRow.objects.filter(pk__in=gone).delete()
        changed, fresh = 0, []
        for key, row in rows.items():
            one = held.get(key)
            if one is None:
                fresh.append(SourceRow(source_id=source, relation=relation, key=key, row=list(row)))
            elif tuple(one.row) != tuple(row):
                one.row = list(row)
                one.save()
                changed += 1
        SourceRow.objects.bulk_create(fresh)
    return len(gone) + changed + len(fresh)
