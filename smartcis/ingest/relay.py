"""Relay: committed outbox entries into the log, in order, each transaction once.

    declare relations → (a strange log? put the difference into the outbox) → append → mark

Law: whichever arrow a crash hits, the next run leaves the log as if it had not happened.
Every append has an idempotency key that its database transaction fixed, so appending again
changes nothing; marking is the last step.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import redis
import structlog
from django.conf import settings
from django.db import connection, transaction
from django.db.models import Max

from aspen.log.entry import (
    Change,
    Declare,
    Entry,
    Register,
    Transaction,
    Unregister,
    decode,
    encode,
)
from aspen.log.redis_log import RedisLog
from aspen.model.arrays import row_in
from aspen.model.delta import Delta, accumulate
from aspen.model.schema import Relation, SourceKind
from aspen.runtime.own_relations import OWN_RELATIONS
from aspen.runtime.snapshot import read_contents
from smartcis import composition
from smartcis.models.declared import whole_catalog
from smartcis.models.outbox import LogLink, OutboxEntry, after_commit
from smartcis.models.state import whole_state

CHANGES_PER_ENTRY = 2_000  # one entry is one step of a lane; larger ones would stall it
TRANSACTIONS_AT_ONCE = 100
READ_AT_ONCE = 5_000
LOCK_S = 60

logger = structlog.get_logger(__name__)


def relay(log: RedisLog, *, now_s: Callable[[], float] = time.time) -> int:
    """Appends every committed outbox entry to `log`; one caller at a time (see `relay_now`).

    Returns:
        How many database transactions were appended.
    """
    declare(log, now_s=now_s)
    adopt(log)
    appended = 0
    while tokens := _pending():
        for token in tokens:
            rows = list(OutboxEntry.objects.filter(token=token, position=None).order_by("id"))
            entries = list(entries_of([row.body for row in rows], at_s=now_s()))
            position = log.append(entries, key=f"outbox:{token}:{rows[-1].pk}") if entries else 0
            OutboxEntry.objects.filter(pk__in=[row.pk for row in rows]).update(position=position)
            appended += 1
    return appended


def _pending() -> list[str]:
    """Returns the tokens to relay, oldest first.

    By *last* id: a transaction that waited for another's row lock wrote its last entry later.
    """
    waiting = OutboxEntry.objects.filter(position=None).order_by()
    ordered = waiting.values("token").annotate(last=Max("id")).order_by("last")
    return [row["token"] for row in ordered[:TRANSACTIONS_AT_ONCE]]


def declare(log: RedisLog, *, now_s: Callable[[], float] = time.time) -> None:
    """Declares the catalog's relations, each once per log and definition."""
    identity = log.identity()
    link = LogLink.objects.filter(pk=LogLink.ONLY).first()
    known = link.declared if link is not None and link.identity == identity else {}
    catalog = whole_catalog()
    wanted = {relation.name: fingerprint(relation) for relation in catalog}
    if known == wanted:
        return
    # No idempotency key: to declare the same thing twice changes nothing.
    news = [relation for relation in catalog if known.get(relation.name) != wanted[relation.name]]
    if news:
        log.append([Declare(now_s(), relation) for relation in news])
    if link is not None and link.identity == identity:
        LogLink.objects.filter(pk=LogLink.ONLY).update(declared=wanted)


@lru_cache(maxsize=1024)
def fingerprint(relation: Relation) -> str:
    """Returns a short hash of a relation's definition."""
    return hashlib.sha256(encode(Declare(0.0, relation))).hexdigest()[:16]


def adopt(log: RedisLog) -> None:
    """Meets a log this database has not written to: make its fold equal to the database.

    An empty log (new, or wiped) is sent everything; one that another database has written is
    sent the difference. What was pending in the outbox is part of the state.
    """
    identity = log.identity()
    if LogLink.objects.filter(pk=LogLink.ONLY, identity=identity).exists():
        return
    tables, views = fold_log(log)
    with transaction.atomic():
        hold_outbox()
        OutboxEntry.objects.filter(position=None).delete()
        stale = [
            [relation, -weight, *row]
            for relation, delta in tables.items()
            for row, weight in delta.items()
        ]
        bodies = [
            *({"unregister": view} for view in reversed(views)),
            {"changes": stale},
            *whole_state(),
        ]
        OutboxEntry.objects.bulk_create(
            [OutboxEntry(token=f"genesis:{identity}", body=body) for body in bodies]
        )
        declared = {relation.name: fingerprint(relation) for relation in whole_catalog()}
        LogLink.objects.update_or_create(
            pk=LogLink.ONLY, defaults={"identity": identity, "declared": declared}
        )
    logger.info("log adopted", identity=identity, steps=len(bodies), stale=len(stale))


def hold_outbox() -> None:
    """Excludes commits between dropping what waits and reading the state it led to.

    Otherwise its change would be sent twice, by its entry and by the state. SQLite has one writer
    at a time anyway. Who waits for this has written his tables and holds nothing that is read here.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f'LOCK TABLE "{OutboxEntry._meta.db_table}" IN EXCLUSIVE MODE')  # noqa: SLF001 - Django's documented way to a table's name


def fold_log(log: RedisLog) -> tuple[dict[str, Delta], list[str]]:
    """Returns the table rows and the views a log stands at: its base, and what came since."""
    tables: dict[str, Delta] = {}
    views: dict[str, None] = {}
    base, head = log.base(), log.head()
    # What no database keeps: arrivals, rows that go by themselves, and the engine's own word.
    passing = {r.name for r in whole_catalog() if r.kind is SourceKind.STREAM or r.ttl_s}
    passing |= OWN_RELATIONS
    if base.position:
        tables, names = read_contents(base.state)
        tables = {name: rows for name, rows in tables.items() if name not in passing}
        views = dict.fromkeys(names)
    for start in range(base.position, head, READ_AT_ONCE):
        for _, entry in log.read(start, min(start + READ_AT_ONCE, head)):
            match entry:
                case Transaction(_, changes):
                    for change in changes:
                        if change.relation not in passing:
                            held = tables.setdefault(change.relation, {})
                            accumulate(held, change.row, change.weight)
                case Register(_, view):
                    views[view] = None
                case Unregister(_, view):
                    views.pop(view, None)
    return tables, list(views)


def entries_of(bodies: Sequence[dict[str, Any]], *, at_s: float) -> Iterator[Entry]:
    """Returns the log entries of one database transaction: declarations, net changes, then views.

    A transaction of up to 2,000 changes is one entry; a larger one is cut, deletions first.
    """
    net: dict[str, Delta] = {}
    views: list[Entry] = []
    for body in bodies:
        for relation, weight, *row in body.get("changes", ()):
            accumulate(net.setdefault(relation, {}), row_in(row), weight)
        if "declare" in body:
            yield declaration_of(body["declare"], at_s=at_s)
        if "unregister" in body:
            views.append(Unregister(at_s, body["unregister"]))
        if "register" in body:
            views.append(Register(at_s, *body["register"]))
    changes = sorted(
        (
            Change(relation, weight, row)
            for relation, delta in net.items()
            for row, weight in delta.items()
        ),
        key=lambda change: change.weight,
    )
    for start in range(0, len(changes), CHANGES_PER_ENTRY):
        yield Transaction(at_s, tuple(changes[start : start + CHANGES_PER_ENTRY]))
    yield from views


def declaration_of(body: dict[str, Any], *, at_s: float) -> Declare:
    """Reads the declaration of a relation that is none of the catalog's."""
    declared = decode(json.dumps(body).encode())
    assert isinstance(declared, Declare)
    return replace(declared, at_s=at_s)


def declaration_body(relation: Relation) -> dict[str, Any]:
    """Writes a relation's declaration as the outbox keeps it."""
    body: dict[str, Any] = json.loads(encode(Declare(0.0, relation)))
    return body


def relay_now(wait_s: float = 0.0) -> int:
    """Relays what was committed; if somebody is at it, leave it to him.

        caller    asked += 1 ── lock? ──no──► return
                                └─yes─► relay ── asked as before? ──no──► once more

    Law: what was committed before a call is in the log when every call that was under way then
    has returned. Should the caller that holds the lock die, the sweep finds it.

    Args:
        wait_s: how long to wait for somebody who is at it: for callers that read the log next.

    Returns:
        How many database transactions were appended; 0 also when Redis is away.
    """
    server = composition.server()
    count = f"{settings.NAME}:relay:asked"
    appended = 0
    try:
        asked = server.incr(count)
        while True:
            lock = server.lock(f"{settings.NAME}:relay", timeout=LOCK_S, sleep=0.01)
            if not lock.acquire(blocking_timeout=wait_s):
                return appended  # it compares the count once it has let go of the lock
            try:
                appended += relay(composition.log())
            finally:
                lock.release()
            before, asked = asked, int(server.get(count) or 0)
            if asked == before:
                return appended
    except redis.RedisError as error:
        # Nothing is lost: the entries stay in the outbox until the sweep reaches Redis again.
        logger.warning("relay postponed", reason=str(error))
        return appended


def install() -> None:
    """Relays after every commit that wrote to the outbox."""
    after_commit(_relay_quietly)


def _relay_quietly() -> None:
    relay_now()
