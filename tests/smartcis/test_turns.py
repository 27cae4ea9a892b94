"""Several who look and then write, all at once: what one may have, no more is ever made."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import User
from django.db import connection, connections, transaction

from aspen.errors import AspenError
from aspen.model.schema import Column, Relation, Type
from aspen.streamsql.statement import read_statement
from smartcis.access.owner import SYSTEM, Owner
from smartcis.actions.declare_relation import RELATIONS_AT_MOST, declare_relation
from smartcis.actions.drop_relation import drop_relation
from smartcis.actions.register_query import register_query
from smartcis.actions.request_route import request_route
from smartcis.actions.reserve_room import reserve_room
from smartcis.errors import Invalid, LimitReached, QuotaReached
from smartcis.models import MaintainedQuery, MaintainedView, OwnRelation, Reservation, RouteRequest
from smartcis.models.outbox import _Committed
from smartcis.models.turns import take_turn

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]

LATEX = "free-machine:LaTeX"
PEOPLE = 4
PAUSE_S = 0.03


@pytest.fixture(autouse=True)
def alone(monkeypatch) -> None:
    """No relay and no sockets: the database is what they meet in."""
    monkeypatch.setattr(_Committed, "listeners", ())
    monkeypatch.setattr("smartcis.actions.request_route._announce", lambda _browser: None)


def all_at_once(*actions: Callable[[], object]) -> list[AspenError | None]:
    """Run actions in threads, each pausing after what it reads; returns how each was refused."""
    start = threading.Barrier(len(actions))
    outcomes: list[AspenError | BaseException | None] = [None] * len(actions)

    def slowly(execute, sql, params, many, context):
        found = execute(sql, params, many, context)
        if sql.startswith("SELECT"):
            time.sleep(PAUSE_S)
        return found

    def run(number: int) -> None:
        try:
            with connection.execute_wrapper(slowly):
                start.wait()
                actions[number]()
        except BaseException as error:  # noqa: BLE001  # the test sees it
            outcomes[number] = error
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(n,)) for n in range(len(actions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for outcome in outcomes:
        if outcome is not None and not isinstance(outcome, AspenError):
            raise outcome
    return outcomes


def refused(outcomes: list[AspenError | None], kind: type[AspenError]) -> int:
    assert all(one is None or isinstance(one, kind) for one in outcomes), outcomes
    return sum(one is not None for one in outcomes)


def test_a_room_is_booked_once(house):
    start, end = datetime(2026, 3, 1, 9, tzinfo=UTC), datetime(2026, 3, 1, 10, tzinfo=UTC)
    book = [lambda n=n: reserve_room("A", start, end, str(n), SYSTEM) for n in range(PEOPLE)]
    other = lambda: reserve_room("B", start, end, "elsewhere", SYSTEM)  # noqa: E731
    assert refused(all_at_once(*book, other), Invalid) == PEOPLE - 1
    assert Reservation.objects.filter(unit_id="A").count() == 1
    assert Reservation.objects.filter(unit_id="B").count() == 1


def test_a_browser_has_no_more_walks_than_it_may(house, settings):
    settings.QUOTAS = settings.QUOTAS | {"walks": {"browser": 2}}
    walks = [lambda: request_route(1, LATEX, step_free=False, owner=Owner("b"))] * PEOPLE
    assert refused(all_at_once(*walks), QuotaReached) == PEOPLE - 2
    assert RouteRequest.objects.count() == 2


def test_nobody_has_more_queries_than_they_may(house, settings):
    settings.QUOTAS = settings.QUOTAS | {"queries": {"browser": 2}}
    queries = [
        lambda n=n: register_query(
            read_statement(f"SELECT node FROM routing_node WHERE node > {n}"), Owner("b")
        )
        for n in range(PEOPLE)
    ]
    assert refused(all_at_once(*queries), QuotaReached) == PEOPLE - 2
    assert MaintainedQuery.objects.count() == 2


@pytest.mark.parametrize("scope", ["address", "all"])
def test_an_address_has_no_more_than_it_may_whoever_asks_there(house, settings, scope):
    settings.QUOTAS = settings.QUOTAS | {"queries": {scope: 2}, "walks": {scope: 2}}
    people = [Owner(f"b{n}", address="hall") for n in range(PEOPLE)]
    queries = [
        lambda n=n, one=one: register_query(
            read_statement(f"SELECT node FROM routing_node WHERE node > {n}"), one
        )
        for n, one in enumerate(people)
    ]
    walks = [lambda p=p: request_route(1, LATEX, step_free=False, owner=p) for p in people]
    for kept, actions in ((MaintainedQuery, queries), (RouteRequest, walks)):
        assert refused(all_at_once(*actions), LimitReached) == PEOPLE - 2
        assert kept.objects.count() == 2


def table(name: str) -> Relation:
    return Relation(name, (Column("n", Type.INT),))


def test_nobody_declares_more_than_they_may(db):
    ann = Owner(user_id=User.objects.create_user("ann").pk)
    for n in range(RELATIONS_AT_MOST - 1):
        declare_relation(table(f"t{n}"), ann)
    more = [lambda n=n: declare_relation(table(f"more{n}"), ann) for n in range(PEOPLE)]
    assert refused(all_at_once(*more), QuotaReached) == PEOPLE - 1
    assert OwnRelation.objects.count() == RELATIONS_AT_MOST


def test_a_name_is_given_once(house):
    ann, ben = (Owner(user_id=User.objects.create_user(name).pk) for name in ("ann", "ben"))
    outcomes = all_at_once(
        lambda: declare_relation(table("lunch"), ann),
        lambda: declare_relation(table("lunch"), ben),
        lambda: register_query(
            read_statement("CREATE VIEW lunch AS SELECT node FROM routing_node"), ben
        ),
    )
    assert refused(outcomes, Invalid) == 2
    assert OwnRelation.objects.count() + MaintainedView.objects.count() == 1


def test_what_is_read_is_not_dropped_meanwhile(house):
    ann = Owner(user_id=User.objects.create_user("ann").pk)
    declare_relation(table("lunch"), ann)
    outcomes = all_at_once(
        lambda: register_query(read_statement("SELECT n FROM lunch"), ann),
        lambda: drop_relation(read_statement("DROP TABLE lunch"), ann),
    )
    assert refused(outcomes, AspenError) == 1
    assert MaintainedView.objects.count() == OwnRelation.objects.count()


def test_a_turn_needs_a_transaction(db):
    with pytest.raises(transaction.TransactionManagementError):
        take_turn("nothing")
