"""Outbox: what a database transaction has to say to the log, written in that same transaction.

Law: an entry exists iff the change it tells of was committed; the relay appends it to the log
once, whatever dies in between.
"""

from __future__ import annotations

import math
import uuid
from collections import Counter
from collections.abc import Callable
from typing import Any

from django.db import models, transaction
from django.utils import timezone

from aspen.model.schema import Relation, Row, SchemaError
from smartcis.models.declared import relations_named

Changes = list[tuple[str, int, Row]]
AfterCommit = Callable[[], None]


class OutboxEntry(models.Model):
    """One step of a transaction: row changes, or a view that begins or ends.

    Args:
        token: the same for all entries of one database transaction; its idempotency key.
        body: `{"changes": [[relation, weight, *row]]}`, `{"register": [view, plan text,
            strategy, sharing, on demand, most steps, rows and bytes, owner]}`,
            `{"unregister": view}` or `{"declare": relation}` of a relation that is none of the
            catalog's.
        position: log position, null until relayed.
    """

    token = models.CharField(max_length=36, db_index=True)
    body = models.JSONField()
    created_at = models.DateTimeField(default=timezone.now)
    position = models.BigIntegerField(null=True, db_index=True)

    class Meta:
        ordering = ("id",)
        verbose_name_plural = "outbox entries"

    def __str__(self) -> str:
        return f"{self.token} {self.position}"


class LogLink(models.Model):
    """Which log this database has sent its state to; at most one row.

    Args:
        identity: the log's id.
        declared: relation name → fingerprint of the definition declared there.
    """

    ONLY = 1

    identity = models.CharField(max_length=64)
    declared = models.JSONField(default=dict)

    def __str__(self) -> str:
        return self.identity


class _Committed:
    """The on_commit callback of one transaction; it carries the transaction's token.

    Django drops it when the transaction (or the savepoint that made it) rolls back, which is
    exactly when the entries under its token vanish.
    """

    listeners: tuple[AfterCommit, ...] = ()

    def __init__(self) -> None:
        self.token = str(uuid.uuid4())
        # Django names a failing callback by this, and callbacks are usually functions.
        self.__qualname__ = type(self).__qualname__

    def __call__(self) -> None:
        for listener in self.listeners:
            listener()


def after_commit(listener: AfterCommit) -> None:
    """Calls `listener` after each commit that wrote to the outbox."""
    _Committed.listeners = (*_Committed.listeners, listener)


def _token(using: str) -> str:
    """Returns the running transaction's token."""
    connection = transaction.get_connection(using)
    for _, function, *_ in connection.run_on_commit:
        if isinstance(function, _Committed):
            return function.token
    committed = _Committed()
    transaction.on_commit(committed, using=using, robust=True)
    return committed.token


def enqueue(body: dict[str, Any], *, using: str = "default") -> None:
    """Writes one outbox entry; must run inside a transaction."""
    OutboxEntry.objects.using(using).create(token=_token(using), body=body)


def record(changes: Changes, *, using: str = "default") -> None:
    """Writes the net effect of row changes to the outbox; nothing when there is none.

    Raises:
        SchemaError: a row that its relation does not allow; the transaction must not commit.
    """
    net: Counter[tuple[str, Row]] = Counter()
    for relation, weight, row in changes:
        net[relation, row] += weight
    kept = [(relation, weight, row) for (relation, row), weight in net.items() if weight]
    if not kept:
        return
    declared = relations_named({relation for relation, _, _ in kept})
    for relation, _, row in kept:
        check_row(declared[relation], row)
    kept = [(relation, weight, declared[relation].kept(row)) for relation, weight, row in kept]
    # Deletions first: a keyed relation never shows two rows of one key.
    kept.sort(key=lambda change: change[1])
    enqueue({"changes": [[relation, weight, *row] for relation, weight, row in kept]}, using=using)


def check_row(relation: Relation, row: Row) -> None:
    """Refuses what would poison the log: a wrong shape or type, NaN, infinity.

    Raises:
        SchemaError: naming the column.
    """
    relation.check(row)
    for name, value in zip(relation.names, row, strict=True):
        if isinstance(value, float) and not math.isfinite(value):
            raise SchemaError(f"{relation.name}.{name} must be finite", found=str(value))
