"""Equal: make the rows of a table equal to what they should be, touching only what differs."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Any, NamedTuple

from django.db import models

from smartcis.models.source import PKS_AT_ONCE, batched

Fields = dict[str, Any]


class RowCounts(NamedTuple):
    """How many rows were written."""

    created: int
    updated: int
    deleted: int


def make_equal(held: models.QuerySet[Any], wanted: Mapping[Any, Fields], *names: str) -> RowCounts:
    """Makes rows exactly the wanted ones; a row that does not change is not written.

    Law: called twice, it writes nothing the second time.

    Args:
        held: the rows there are.
        wanted: values by key; fields that are not among them stay as they are.
        names: the fields of the key, the primary key by default; several make it a tuple.
    """
    names = names or ("pk",)
    identity = attrgetter(*names)
    stored = {identity(one): one for one in held}
    gone = [one.pk for key, one in stored.items() if key not in wanted]
    fresh, changed = [], []
    for key, values in wanted.items():
        one = stored.get(key)
        if one is None:
            given = key if len(names) > 1 else (key,)
            fresh.append(held.model(**dict(zip(names, given, strict=True)), **values))
            continue
        differing = [name for name, value in values.items() if getattr(one, name) != value]
        for name in differing:
            setattr(one, name, values[name])
        if differing:
            changed.append(one)
    manager = held.model._default_manager  # noqa: SLF001  # the documented way to a model's manager
    for keys in batched(gone, PKS_AT_ONCE):
        manager.filter(pk__in=keys).delete()
    if changed:
        manager.bulk_update(changed, list(next(iter(wanted.values()))), batch_size=200)
    if fresh:
        manager.bulk_create(fresh, batch_size=500)
    return RowCounts(len(fresh), len(changed), len(gone))
