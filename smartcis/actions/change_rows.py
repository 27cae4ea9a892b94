"""Change rows: INSERT, DELETE and UPDATE of the tables and streams people declared.

rows a statement speaks of   asked of the engine, at one position of the log; constants need none
table                        database and outbox, in one transaction
stream                       straight to the log: a stream only ever grows
"""

from __future__ import annotations

import time
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from django.db import transaction

from aspen.log.entry import Change, Transaction
from aspen.model.schema import Relation, Row, SourceKind
from aspen.streamsql.compile import Compiled, compile_statement
from aspen.streamsql.statement import Statement
from aspen.streamsql.table_change import TableChange, table_change
from aspen.views.evaluate_once import evaluate_once
from smartcis import composition
from smartcis.access.owner import Owner
from smartcis.access.restrict import EVERYBODY, restrict
from smartcis.actions.support.own_relations import check_owner, not_ones_own
from smartcis.compiling.fair_turn import fair_turn
from smartcis.compiling.live_catalog import live_catalog
from smartcis.errors import Invalid, QuotaReached, Refused
from smartcis.ingest.relay import relay_now
from smartcis.models import OwnRelation, OwnRow
from smartcis.models.outbox import check_row
from smartcis.models.own_tables import digest_of
from smartcis.questions.once import answer

RELAY_WAIT_S = 2.0
"""How long a statement waits for the log to have what was committed before it."""
ROWS_AT_MOST = 10_000
"""Rows of one table declared here: larger ones belong to a source of kind table."""


def change_rows(statement: Statement, owner: Owner) -> int:
    """Carries a statement out.

    Returns:
        How many rows came, went or changed.

    Raises:
        NotFound: there is no such table.
        Refused: it is somebody else's or the house's, or a stream is to lose rows.
        QuotaReached: the table would have more rows than it may.
        AspenError: what else is wrong with it.
    """
    own = OwnRelation.objects.filter(pk=statement.name).first()
    if own is None:
        raise not_ones_own(statement.name)
    check_owner(own, owner)
    relation = own.relation
    stream = relation.kind is SourceKind.STREAM
    if stream and statement.kind != "INSERT":
        raise Refused(
            f"{own.name} is a stream, which only ever grows",
            found=own.name,
            attempt="its rows leave by the windows of those who read it",
        )
    change = table_change(statement, relation, _compiled)
    pairs = [change.of(row) for row in _answer(change, owner.share)]
    old = [row for row, _ in pairs if row is not None]
    new = [row for _, row in pairs if row is not None]
    for row in new:
        check_row(relation, row)
    if stream:
        _append(relation, new)
    else:
        _change(own, relation, old, new)
    return len(pairs)


def _compiled(question: Statement) -> Compiled:
    catalog = live_catalog()
    with fair_turn():
        # What is found is kept, and everybody reads it.
        kept = replace(compile_statement(question, catalog), once=False)
        return restrict(kept, EVERYBODY, catalog)


def _answer(change: TableChange, asker: str) -> Sequence[Row]:
    """Returns what a statement's question finds; only the engine may take long over it."""
    if change.constant:
        found = evaluate_once(change.compiled.plan, ())
        return [row for row, weight in found.items() for _ in range(weight)]
    relay_now(RELAY_WAIT_S)  # the rows in question are those of the log
    return answer(replace(change.compiled, order=None), asker).rows


def _append(relation: Relation, rows: Sequence[Row]) -> None:
    """Appends arrivals; the stream must be declared in the log before them."""
    relay_now(RELAY_WAIT_S)
    changes = tuple(Change(relation.name, 1, row) for row in rows)
    if changes:
        composition.log().append([Transaction(time.time(), changes)])


def _change(own: OwnRelation, relation: Relation, old: Sequence[Row], new: Sequence[Row]) -> None:
    """Takes rows out of a table and puts rows in; all of it or nothing."""
    with transaction.atomic():
        # The lock keeps two writers of one table apart.
        OwnRelation.objects.select_for_update().get(pk=own.pk)
        found = Counter(map(digest_of, old))
        gone = _take_out(own, found)
        if new and gone < found.total():
            raise Refused(f"{own.name} was changed meanwhile", attempt="again")
        held = OwnRow.objects.filter(relation=own).count()
        if held + len(new) > ROWS_AT_MOST:
            raise QuotaReached(
                f"{own.name} would have {held + len(new):,} rows",
                found=f"{held + len(new):,}",
                exists=[f"up to {ROWS_AT_MOST:,}"],
                attempt="let a source of kind table feed it",
            )
        keys = _keys(own, relation, new)
        OwnRow.objects.bulk_create(
            OwnRow(relation=own, key=key, digest=digest_of(row), row=list(row))
            for key, row in zip(keys, new, strict=True)
        )


def _take_out(own: OwnRelation, digests: Counter[str]) -> int:
    """Deletes rows by digest, each as often as it is counted; returns how many there were."""
    held: dict[str, list[int]] = {}
    equal = OwnRow.objects.filter(relation=own, digest__in=digests)
    for digest, pk in equal.values_list("digest", "pk"):
        held.setdefault(digest, []).append(pk)
    keys = [pk for digest, count in digests.items() for pk in held.get(digest, ())[:count]]
    return OwnRow.objects.filter(pk__in=keys).delete()[0]


def _keys(own: OwnRelation, relation: Relation, rows: Sequence[Row]) -> list[str]:
    """Returns what no two rows may share; without a key, anything that nobody has.

    Raises:
        Invalid: two rows would share a key.
    """
    if not relation.key:
        return [uuid.uuid4().hex for _ in rows]
    indices = [relation.index(name) for name in relation.key]
    keys = [digest_of([row[index] for index in indices]) for row in rows]
    taken = set(OwnRow.objects.filter(relation=own, key__in=keys).values_list("key", flat=True))
    for key, row in zip(keys, rows, strict=True):
        if key in taken:
            raise Invalid(
                f"two rows of {own.name} would share {', '.join(relation.key)}",
                found=", ".join(str(row[index]) for index in indices),
                attempt="UPDATE the row, or DELETE it first",
            )
        taken.add(key)
    return keys
