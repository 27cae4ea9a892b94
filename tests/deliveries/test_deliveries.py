"""Deliveries: alarms stand while their row does; calls are signed, ordered, repeated, given up."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections import Counter
from datetime import timedelta
from random import Random

import pytest
from api.test_api import Caller
from deliveries.receiver import receiving
from django.contrib.auth.models import User
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from aspen.model.delta import Delta
from aspen.results import RedisResults
from aspen.results.protocol import ViewChange
from aspen.streamsql.errors import NoDelivery
from aspen.streamsql.statement import read_statement
from smartcis import composition
from smartcis.access.owner import Owner
from smartcis.actions.deploy_standing_queries import deploy_standing_queries
from smartcis.actions.register_query import register_query
from smartcis.actions.unregister_query import unregister_query
from smartcis.deliveries.collect import collect
from smartcis.deliveries.outputs import allowed
from smartcis.deliveries.send import ATTEMPTS, send_due, sweep_settled
from smartcis.errors import Invalid, Refused
from smartcis.models import Alarm, Delivery, Door, OutboxEntry, Outlet, ToldRow
from smartcis.tasks import collect_deliveries, send_deliveries

pytestmark = pytest.mark.database

LOCKED = "SELECT d.door_id, d.state FROM door d WHERE d.state = 'locked'"
COLUMNS = (("door_id", "TEXT", ""), ("state", "TEXT", ""))


@pytest.fixture
def receiver(settings, monkeypatch):
    monkeypatch.setattr("smartcis.deliveries.send.DEADLINE_S", 60.0)
    monkeypatch.setattr("smartcis.deliveries.send.TURN_S", 600.0)
    with receiving() as server:
        settings.WEBHOOKS = [f"{server.url}/hooks/"]
        yield server


@pytest.fixture
def staff(building, house) -> Owner:
    user = User.objects.create_user("gate", is_staff=True)
    return Owner(user_id=user.pk, staff=True, account="gate")


class Store:
    """The result store, written by hand."""

    def __init__(self, view: str) -> None:
        self.view = view
        self.generation, self.batch = secrets.token_hex(4), 0

    def write(self, delta: Delta, *, opens: bool = False, **said) -> None:
        self.batch += 1
        columns = COLUMNS if opens else ()
        change = ViewChange(self.view, delta, columns, **said)
        composition.results().write(self.generation, self.batch, self.batch, 1e9, [change], {})


def submitted(owner: Owner, output: str, sql: str = LOCKED):
    return register_query(read_statement(f"{sql} OUTPUT TO {output}"), owner, name="locked doors")


def hand_out() -> None:
    collect(composition.results())
    send_due()


def later() -> None:
    """Let the time pass that the next attempts wait for."""
    Delivery.objects.filter(state="pending").update(due_at=timezone.now() - timedelta(seconds=1))


def standing():
    return Alarm.objects.filter(cleared_s=None)


def told() -> Delta:
    return {tuple(one.row): one.weight for one in ToldRow.objects.all()}


@pytest.mark.django_db(transaction=True)
def test_a_locked_door_calls_and_raises_until_it_is_open(staff, receiver, engine):
    query = submitted(staff, f"WEBHOOK '{receiver.url}/hooks/doors', ALARM")
    assert query.view.on_demand is False
    engine()
    hand_out()
    assert receiver.calls == []
    Door.objects.filter(pk="A.d1").update(state="locked")
    engine()
    assert collect_deliveries() == 1
    assert send_deliveries() == 1
    (path, headers, body), fields = receiver.calls[0], receiver.bodies[0]
    assert path == "/hooks/doors"
    assert fields["row"] == {"door_id": "A.d1", "state": "locked"}
    assert (fields["query"], fields["name"]) == (query.pk, "locked doors")
    assert (fields["change"], fields["times"]) == ("insert", 1)
    assert headers["Idempotency-Key"] == fields["key"]
    at_s, digest = headers["X-SmartCIS-Signature"].removeprefix("t=").split(",v1=")
    secret = pytest.importorskip("django.conf").settings.WEBHOOK_SECRET.encode()
    assert digest == hmac.new(secret, f"{at_s}.".encode() + body, hashlib.sha256).hexdigest()
    (alarm,) = Alarm.objects.all()
    assert alarm.message == "door_id A.d1, state locked"
    assert next(row for relation, row in alarm.rows())[1:3] == (query.pk, "locked doors")
    listed = Caller()("GET", f"alarms/?query={query.pk}").json()["results"]
    assert [one["message"] for one in listed] == [alarm.message]
    engine()
    Door.objects.filter(pk="A.d1").update(state="open")
    engine()
    hand_out()
    assert receiver.rows == [("insert", ["A.d1", "locked"]), ("delete", ["A.d1", "locked"])]
    assert list(alarm.events.values_list("what", flat=True)) == ["raised", "cleared"]
    assert not standing().exists()
    sent = [
        change for entry in OutboxEntry.objects.all() for change in entry.body.get("changes", ())
    ]
    assert [one[1] for one in sent if one[0] == "alarm"] == [1, -1]


@pytest.mark.django_db
def test_what_was_not_taken_is_sent_again_in_order(staff, receiver):
    query = submitted(staff, f"WEBHOOK '{receiver.url}/hooks/doors'")
    store = Store(query.view_id)
    store.write({}, opens=True)
    hand_out()
    receiver.statuses = [500, 503]
    store.write({("a", "locked"): 1})
    store.write({("b", "locked"): 1})
    hand_out()
    hand_out()
    assert len(receiver.calls) == 1, "the second waits behind the first, and the first for its time"
    later()
    hand_out()
    assert Delivery.objects.order_by("pk").first().fault == "answered 503"
    later()
    hand_out()
    assert [row[0] for _, row in receiver.rows] == ["a", "a", "a", "b"]
    assert len({body["key"] for body in receiver.bodies}) == 2
    assert set(Delivery.objects.values_list("state", flat=True)) == {"delivered"}


@pytest.mark.django_db
def test_what_nobody_takes_is_given_up_where_it_shows(staff, receiver):
    query = submitted(staff, f"WEBHOOK '{receiver.url}/hooks/doors'")
    store = Store(query.view_id)
    store.write({("a", "locked"): 1}, opens=True)
    receiver.statuses = [500] * ATTEMPTS + [302, 410]
    for _ in range(ATTEMPTS + 1):
        later()
        hand_out()
    (lost,) = Delivery.objects.all()
    assert (lost.state, lost.attempts, lost.fault) == ("given_up", ATTEMPTS, "answered 500")
    assert len(receiver.calls) == ATTEMPTS
    store.write({("b", "locked"): 1})
    hand_out()
    assert Delivery.objects.get(state="pending").fault == "answered 302", "nobody is followed"
    later()
    hand_out()
    gone = Delivery.objects.get(fault="answered 410")
    assert (gone.state, gone.attempts) == ("given_up", 2)
    assert [path for path, *_ in receiver.calls] == ["/hooks/doors"] * len(receiver.calls)
    Delivery.objects.update(settled_at=timezone.now() - timedelta(days=8))
    assert sweep_settled() == 2


@pytest.mark.django_db
def test_what_was_given_up_shows_and_can_be_tried_again(staff, receiver, building):
    caller = Caller()
    caller.client.force_login(User.objects.get(pk=staff.user_id))
    query = submitted(staff, f"WEBHOOK '{receiver.url}/hooks/doors'")
    Store(query.view_id).write({("a", "locked"): 1}, opens=True)
    receiver.statuses = [410]
    hand_out()
    path = f"queries/{query.pk}/deliveries/"
    (shown,) = caller("GET", path).json()["results"]
    assert (shown["state"], shown["fault"], shown["row"]) == (
        "given_up",
        "answered 410",
        ["a", "locked"],
    )
    calls = caller("GET", f"queries/{query.pk}/").json()["calls"]
    assert calls == {"pending": 0, "delivered": 0, "given_up": 1}
    assert Caller()("GET", path).status_code == 403
    assert caller("GET", "queries/nothing/deliveries/").status_code == 404
    token = caller.client.get("/").cookies["csrftoken"].value
    assert caller("POST", path, {"key": "none"}, HTTP_X_CSRFTOKEN=token).json() == {"retried": 0}
    assert caller("POST", path, {}, HTTP_X_CSRFTOKEN=token).json() == {"retried": 1}
    hand_out()
    assert caller("GET", path).json()["results"][0]["state"] == "delivered"
    assert len({body["key"] for body in receiver.bodies}) == 1
    assert caller("GET", f"queries/{query.pk}/").json()["outputs"] == [
        f"WEBHOOK {receiver.url}/hooks/doors"
    ]


@pytest.mark.django_db
def test_an_address_that_is_no_longer_allowed_is_not_called(staff, receiver, settings):
    query = submitted(staff, f"WEBHOOK '{receiver.url}/hooks/doors'")
    Store(query.view_id).write({("a", "locked"): 1}, opens=True)
    settings.WEBHOOKS = []
    hand_out()
    assert Delivery.objects.get().state == "given_up"
    assert receiver.calls == []


@pytest.mark.django_db
def test_epochs_that_were_forgotten_are_made_up_for(staff, receiver, building, redis_url):
    query = submitted(staff, f"WEBHOOK '{receiver.url}/hooks/doors', ALARM")
    store = Store(query.view_id)
    store.write({("a", "locked"): 1, ("b", "locked"): 1}, opens=True)
    hand_out()
    forgetful = RedisResults(redis_url, building, keep=1)
    for delta in ({("c", "locked"): 1}, {("a", "locked"): -1}, {("d", "locked"): 1}):
        store.batch += 1
        change = [ViewChange(query.view_id, delta)]
        forgetful.write(store.generation, store.batch, store.batch, 1e9, change, {})
    hand_out()
    hand_out()
    assert {(change, row[0]) for change, row in receiver.rows} == {
        *[("insert", door) for door in "abcd"],
        ("delete", "a"),
    }
    assert sorted(alarm.message[8] for alarm in standing()) == ["b", "c", "d"]


@pytest.mark.django_db
def test_a_new_engine_tells_nothing_twice(staff, receiver):
    query = submitted(staff, f"WEBHOOK '{receiver.url}/hooks/doors', ALARM")
    Store(query.view_id).write({("a", "locked"): 1}, opens=True)
    hand_out()
    raised = Alarm.objects.get().pk
    again = Store(query.view_id)
    again.write({}, closed=True)
    hand_out()
    again.write({("a", "locked"): 1, ("b", "locked"): 1}, opens=True)
    hand_out()
    assert receiver.rows == [("insert", ["a", "locked"]), ("insert", ["b", "locked"])]
    assert raised in standing().values_list("pk", flat=True)
    unregister_query(query.pk, staff)
    assert not standing().exists()
    assert not Outlet.objects.exists()
    hand_out()


def dies(_call) -> None:
    raise KeyboardInterrupt


@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(4))
def test_what_was_told_is_the_view_whatever_is_lost(staff, receiver, building, redis_url, seed):
    """Epochs forgotten, engines that begin anew, queries stopped: folds agree, alarms too."""
    rng = Random(seed)
    query = submitted(staff, f"WEBHOOK '{receiver.url}/hooks/doors', ALARM")
    view, store, held = query.view_id, Store(query.view_id), Counter[tuple]()
    store.write({}, opens=True)
    for _ in range(40):
        match rng.randrange(6):
            case 0:
                collect(composition.results())
            case 1:
                RedisResults(redis_url, building, keep=1).write(
                    store.generation, (batch := store.batch + 1), batch, 1e9, [], {}
                )
                store.batch = batch
            case 2:
                store = Store(view)
                store.write(+held, opens=True)
            case _:
                row = (rng.choice("abc"), "locked")
                weight = -1 if held[row] and rng.random() < 0.5 else 1
                held[row] += weight
                store.write({row: weight})
    for _ in range(2):
        hand_out()
    assert told() == +held
    assert standing().count() == len(+held)
    calls: Counter[tuple] = Counter()
    for body in receiver.bodies:
        sign = 1 if body["change"] == "insert" else -1
        calls[tuple(body["row"].values())] += sign * body["times"]
    assert +calls == +held


@pytest.mark.django_db
def test_one_who_dies_between_calling_and_noting_calls_again_under_the_same_key(
    staff, receiver, monkeypatch
):
    query = submitted(staff, f"WEBHOOK '{receiver.url}/hooks/doors'")
    Store(query.view_id).write({("a", "locked"): 1}, opens=True)
    collect(composition.results())
    with monkeypatch.context() as dying:
        dying.setattr("smartcis.deliveries.send.note", dies)
        with pytest.raises(KeyboardInterrupt):
            send_due()
    hand_out()
    first, second = receiver.bodies
    assert first == second


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("output", "sql", "error"),
    [
        ("WEBHOOK", LOCKED, Invalid),
        ("WEBHOOK 'http://example.org/hooks'", LOCKED, Refused),
        ("ALARM", "SELECT a.message FROM alarm a", Invalid),
        ("ALARM", "SELECT r.node FROM route_request r", Refused),
        (f"ALARM '{'x' * 81}'", LOCKED, Invalid),
        ("DISPLAY lobby", LOCKED, NoDelivery),
        ("ALARM, DISPLAY", LOCKED, NoDelivery),
    ],
)
def test_what_may_not_be_put_out_is_said(staff, output, sql, error):
    with pytest.raises(error):
        submitted(staff, output, sql)
    assert not Outlet.objects.exists()


def test_a_standing_query_is_put_out_nowhere(db):
    text = f"CREATE VIEW locked AS {LOCKED} OUTPUT TO ALARM"
    with pytest.raises(NoDelivery):
        deploy_standing_queries({"locked.streamsql": text})


@pytest.mark.django_db
def test_only_staff_puts_changes_out(building, house):
    for output in ("ALARM", "WEBHOOK 'http://example.org/'"):
        with pytest.raises(Refused, match="only staff"):
            submitted(Owner(browser="b"), output)


PREFIXES = ["https://hooks.example.org/smartcis/", "http://10.0.0.7:8080"]


@pytest.mark.parametrize(
    "url",
    [
        "https://hooks.example.org/smartcis",
        "https://hooks.example.org/smartcis/doors?floor=1",
        "https://hooks.example.org:443/smartcis/doors",
        "https://HOOKS.example.org/smartcis/x",
        "http://10.0.0.7:8080/any/thing",
    ],
)
def test_below_a_prefix_is_allowed(url):
    assert allowed(url, PREFIXES)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "hooks.example.org/smartcis/",
        "http://hooks.example.org/smartcis/",
        "https://hooks.example.org/smartcisco",
        "https://hooks.example.org/smartcis/../admin",
        "https://hooks.example.org/smartcis/%2e%2e/admin",
        "https://hooks.example.org/smartcis/..%2fadmin",
        "https://hooks.example.org.evil.test/smartcis/",
        "https://hooks.example.org@evil.test/smartcis/",
        "https://evil.test/https://hooks.example.org/smartcis/",
        "https://hooks.example.org\\@evil.test/smartcis/",
        "https://hooks.example.org/smartcis/#@evil.test",
        "https://hooks.example.org:8443/smartcis/",
        "https://hooks.example.org:port/smartcis/",
        "http://10.0.0.7/any",
        "http://10.0.0.7:8080.evil.test/",
        "ftp://10.0.0.7:8080/",
        "file:///etc/passwd",
        "https://hooks.example.org/smartcis/\r\nHost: evil.test",
        "https://hooks.exämple.org/smartcis/",
    ],
)
def test_nothing_else_is(url):
    assert not allowed(url, PREFIXES)


@given(st.text(max_size=40))
def test_whatever_follows_a_prefix_stays_on_its_host(rest):
    for prefix in PREFIXES:
        if allowed(prefix + rest, PREFIXES):
            httpx = pytest.importorskip("httpx")
            called = httpx.URL(prefix + rest)
            assert called.host in ("hooks.example.org", "10.0.0.7"), json.dumps(rest)
            assert called.port in (None, 8080)
            assert called.host == "10.0.0.7" or called.path.startswith("/smartcis")
