"""Changes: what staff changed of the building, who and when, by whichever door.

Written where the tables themselves are written (`models/source.py`), in the same transaction, while
somebody of the staff is known to act. What the product does by itself is in its log, not here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models

ACTOR: ContextVar[Callable[[], str] | None] = ContextVar("actor", default=None)
"""Names whoever acts in this request; empty for nobody of the staff."""

NOTED = frozenset(
    {
        *("unit", "level", "door", "machine", "softwareinstall", "kiosk", "sensor", "sensorkind"),
        *("regionseed", "reservation", "visitor", "source"),
    }
)
LEFT_OUT = frozenset({"updated_at", "edited", "pseudonym", "named_on", "since_s"})
"""What follows from the rest, or by itself."""
HIDDEN = frozenset({"code", "config", "polygon", "ground", "outline"})
"""Secrets, and drawings: that they changed is said, and not from what to what."""
MOST = 500
"""Of one statement: an import of thousands is one deed, which the list of imports has."""


class ChangeRecord(models.Model):
    """One thing that was added, changed or removed.

    Args:
        account: whose name it was; it stays when the account goes.
        kind: what kind of thing, as people call it.
        key: its id.
        fields: each that changed: before and after, null where it was not or is not there.
    """

    at = models.DateTimeField(auto_now_add=True, db_index=True)
    account = models.CharField(max_length=150, db_index=True)
    kind = models.CharField(max_length=60, db_index=True)
    key = models.CharField("thing", max_length=100, db_index=True)
    fields = models.JSONField(encoder=DjangoJSONEncoder)

    class Meta:
        ordering = ("-at", "-pk")
        verbose_name = "change"
        verbose_name_plural = "change log"

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"


@contextmanager
def noted(model: type[models.Model], keys: Sequence[Any], using: str) -> Iterator[list[Any]]:
    """Notes how the rows with these keys change; keys of new ones may be added to what it gives.

    Runs inside a transaction, and asks nothing where nobody of the staff acts.
    """
    name, found = model._meta.model_name, list(keys)  # noqa: SLF001  # public despite its name
    actor = ACTOR.get() if name in NOTED else None
    account = actor() if actor is not None else ""
    if not account:
        yield found
        return
    before = _rows(model, found, using)
    yield found
    after = _rows(model, found, using)
    kind = model._meta.verbose_name_raw  # noqa: SLF001  # public despite its name
    changes = [
        ChangeRecord(account=account, kind=kind, key=str(key)[:100], fields=fields)
        for key in dict.fromkeys([*before, *after])
        if (fields := _difference(before.get(key, {}), after.get(key, {})))
    ]
    ChangeRecord.objects.using(using).bulk_create(changes)


def _rows(model: type[models.Model], keys: Sequence[Any], using: str) -> dict[Any, dict[str, Any]]:
    chosen = model._base_manager.using(using).filter(pk__in=list(keys)[:MOST])  # noqa: SLF001  # the manager Django itself writes through
    key = model._meta.pk.attname  # noqa: SLF001  # public despite its name
    return {one[key]: one for one in chosen.values()}


def _difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, list[Any]]:
    names = [name for name in {**before, **after} if name not in LEFT_OUT]
    pairs = {name: [before.get(name), after.get(name)] for name in names}
    return {
        name: [None if one is None else "…" for one in pair] if name in HIDDEN else pair
        for name, pair in pairs.items()
        if pair[0] != pair[1]
    }
