"""Writes of many rows: few statements, and in the outbox what one row at a time leaves there."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from aspen.model.schema import Column, Relation, Type
from aspen.streamsql.statement import read_statement
from smartcis.access.owner import Owner
from smartcis.actions.change_rows import change_rows
from smartcis.actions.drop_relation import drop_relation
from smartcis.models import OutboxEntry, OwnRelation, OwnRow, Source, SourceRow
from smartcis.models.outbox import _Committed
from smartcis.models.own_tables import declaration_of
from smartcis.sources.stores.held import store_held

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]

ROWS = 10_000
STATEMENTS = 20
LUNCH = Relation("lunch", (Column("n", Type.INT), Column("dish", Type.TEXT)), key=("n",))
STEW = [(n, "stew") for n in range(ROWS)]
SOUP = [(n, "soup") for n in range(ROWS)]
FEW = STEW[:2_000]


@pytest.fixture(autouse=True)
def by_hand(monkeypatch) -> None:
    """No relay after a commit: the outbox keeps what was written."""
    monkeypatch.setattr(_Committed, "listeners", ())
    monkeypatch.setattr("smartcis.actions.change_rows.relay_now", lambda _wait_s: 0)


@pytest.fixture
def ann(db) -> Owner:
    return Owner(user_id=User.objects.create_user("ann").pk)


@pytest.fixture
def own(ann) -> OwnRelation:
    return OwnRelation.objects.create(
        name="lunch", user_id=ann.user_id, declaration=declaration_of(LUNCH)
    )


def stored() -> list[tuple]:
    return sorted(tuple(row) for row in OwnRow.objects.values_list("row", flat=True))


def committed() -> list[Counter]:
    """What each transaction since the last call changed."""
    by_token: dict[str, Counter] = {}
    for entry in OutboxEntry.objects.order_by("id"):
        net = by_token.setdefault(entry.token, Counter())
        for relation, weight, *row in entry.body["changes"]:
            net[relation, *row] += weight
    OutboxEntry.objects.all().delete()
    return [Counter({row: n for row, n in net.items() if n}) for net in by_token.values()]


def difference(relation: str, before: list[tuple], after: list[tuple]) -> Counter:
    net = Counter((relation, *row) for row in after)
    net.subtract((relation, *row) for row in before)
    return net


@pytest.mark.parametrize(
    ("text", "before", "answer", "after"),
    [
        ("INSERT INTO lunch SELECT node, rid FROM routing_node", [], STEW, STEW),
        ("UPDATE lunch SET dish = 'soup'", STEW, [(*row, "soup") for row in STEW], SOUP),
        ("DELETE FROM lunch", STEW, STEW, []),
    ],
    ids=["insert", "update", "delete"],
)
def test_a_statement_is_few_statements(own, ann, monkeypatch, text, before, answer, after):
    if before:
        with monkeypatch.context() as patch:
            patch.setattr(f"{change_rows.__module__}.answer", found(before))
            change_rows(read_statement("INSERT INTO lunch SELECT node, rid FROM routing_node"), ann)
    committed()
    monkeypatch.setattr(f"{change_rows.__module__}.answer", found(answer))
    with CaptureQueriesContext(connection) as caught:
        assert change_rows(read_statement(text), ann) == ROWS
    assert len(caught) <= STATEMENTS, Counter(query["sql"][:60] for query in caught)
    assert stored() == after
    assert committed() == [difference("lunch", before, after)]


def found(rows):
    """Returns an engine's answer without an engine."""
    return lambda _compiled, _asker: SimpleNamespace(rows=rows)


def test_equal_rows_go_as_often_as_they_were_found(ann, monkeypatch):
    bare = Relation("bag", (Column("n", Type.INT),))
    OwnRelation.objects.create(name="bag", user_id=ann.user_id, declaration=declaration_of(bare))
    change_rows(read_statement("INSERT INTO bag VALUES (1), (1), (1), (2)"), ann)
    committed()
    monkeypatch.setattr(f"{change_rows.__module__}.answer", found([(1,), (1,)]))
    assert change_rows(read_statement("DELETE FROM bag WHERE n = 1"), ann) == 2
    assert stored() == [(1,), (2,)]
    assert committed() == [Counter({("bag", 1): -2})]


@pytest.mark.parametrize("gone", ["relation", "its user"])
def test_a_table_goes_with_its_rows_in_few_statements(own, ann, monkeypatch, gone):
    monkeypatch.setattr(f"{change_rows.__module__}.answer", found(FEW))
    change_rows(read_statement("INSERT INTO lunch SELECT node, rid FROM routing_node"), ann)
    committed()
    with CaptureQueriesContext(connection) as caught:
        if gone == "relation":
            drop_relation(read_statement("DROP TABLE lunch"), ann)
        else:
            User.objects.get().delete()
    assert len(caught) <= 2 * STATEMENTS, Counter(query["sql"][:60] for query in caught)
    assert stored() == []
    assert committed() == [difference("lunch", FEW, [])]


def test_a_source_writes_many_rows_in_few_statements(db):
    columns = [{"name": "n", "type": "INT"}, {"name": "dish", "type": "TEXT"}]
    config = {"relation": "menu", "columns": columns}
    source = Source.objects.create(source="kitchen", kind="table", config=config)
    before: list[tuple] = []
    for after in (FEW, [*SOUP[:1_000], *FEW[1_000:-1]], []):
        committed()
        with CaptureQueriesContext(connection) as caught:
            store_held("kitchen", "menu", {str(row[0]): row for row in after})
        assert len(caught) <= STATEMENTS, Counter(query["sql"][:60] for query in caught)
        net = difference("menu", before, after)
        assert committed() == [Counter({row: n for row, n in net.items() if n})]
        before = after
    store_held("kitchen", "menu", {str(row[0]): row for row in FEW})
    committed()
    with CaptureQueriesContext(connection) as caught:
        source.delete()
    assert len(caught) <= 2 * STATEMENTS, Counter(query["sql"][:60] for query in caught)
    assert not SourceRow.objects.exists()
    (change,) = committed()
    assert change.items() >= difference("menu", FEW, []).items()
