"""The outbox and its relay: nothing lost, nothing twice, whatever dies in between."""

from __future__ import annotations

import math

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given
from hypothesis import settings as quick
from hypothesis import strategies as st

from aspen.log import Base
from aspen.log.entry import Change, Declare, Register, Tick, Transaction, Unregister
from aspen.model.delta import Delta, accumulate
from aspen.model.schema import SchemaError
from aspen.runtime.lane import Lane
from smartcis import composition
from smartcis.catalog import CATALOG
from smartcis.ingest import relay as relaying
from smartcis.models import LogLink, MaintainedView, OutboxEntry, RouteRequest
from smartcis.models.outbox import _Committed, record
from smartcis.models.source import UnsupportedWrite

pytestmark = [pytest.mark.database, pytest.mark.django_db]


@pytest.fixture
def by_hand(monkeypatch) -> None:
    """No relay after a commit: the test turns the crank."""
    monkeypatch.setattr(_Committed, "listeners", ())


def forget_the_log(name):
    server = composition.server()
    for key in server.scan_iter(f"{name}*"):
        server.delete(key)


class Killed(BaseException):
    """The process ends here."""


class MortalLog:
    """A log whose process dies after so many calls that reach the server."""

    def __init__(self, log, deaths=()):
        self.log = log
        self.deaths = list(deaths)
        self.calls = 0

    def append(self, entries, key=""):
        self._step()  # dies before the append…
        position = self.log.append(entries, key)
        self._step()  # … or after it, before anything is marked
        return position

    def _step(self):
        self.calls += 1
        if self.calls in self.deaths:
            raise Killed

    def head(self):
        return self.log.head()

    def base(self):
        return self.log.base()

    def read(self, after, upto):
        return self.log.read(after, upto)

    def identity(self):
        return self.log.identity()


def told(log) -> list:
    return [entry for _, entry in log.read(0, log.head())]


def fold(log) -> dict[str, Delta]:
    tables: dict[str, Delta] = {}
    for entry in told(log):
        if isinstance(entry, Transaction):
            for change in entry.changes:
                accumulate(tables.setdefault(change.relation, {}), change.row, change.weight)
    return tables


def request(session="a", **fields) -> RouteRequest:
    values = {"browser": "b", "node": 1, "goal": "free-machine:LaTeX", "step_free": False} | fields
    return RouteRequest.objects.create(session=session, **values)


def stored() -> Delta:
    return {row: 1 for one in RouteRequest.objects.all() for _, row in one.rows()}


def test_declarations_precede_everything(building):
    request()
    relaying.relay(composition.log())
    entries = told(composition.log())
    declared = [entry.relation for entry in entries if isinstance(entry, Declare)]
    assert declared == list(CATALOG)
    assert isinstance(entries[len(declared)], Transaction)


def test_what_passes_is_no_table_of_the_log(building):
    log = composition.log()
    rows = {
        "machine": ("m1", "R1", 1.0, 2.0),
        "seat_reading": ("m1", 80.0, 1.0),
        "rfid_reading": ("t1", "s1", 1, -60.0, 1.0),
        "sys_epochs": (1, 1, 1, 1, 1, 1.0, 1.0),
    }
    log.append([Transaction(1.0, tuple(Change(name, 1, row) for name, row in rows.items()))])
    assert relaying.fold_log(log)[0] == {"machine": {rows["machine"]: 1}}


def test_one_database_transaction_is_one_entry(building):
    relaying.relay(composition.log())
    start = composition.log().head()
    with transaction.atomic():
        request("a")
        request("b")
        RouteRequest.objects.filter(session="a").update(node=7)
    assert relaying.relay(composition.log()) == 1
    (entry,) = [entry for _, entry in composition.log().read(start, start + 9)]
    assert {change.row for change in entry.changes} == {
        ("a", 7, "free-machine:LaTeX", False),
        ("b", 1, "free-machine:LaTeX", False),
    }


def test_what_nets_to_nothing_is_not_appended(building):
    relaying.relay(composition.log())
    start = composition.log().head()
    with transaction.atomic():
        one = request()
        one.node = 2
        one.save()
        one.delete()
    relaying.relay(composition.log())
    assert composition.log().head() == start
    assert not OutboxEntry.objects.filter(position=None).exists()


def test_a_rolled_back_savepoint_leaves_no_word(building):
    with transaction.atomic():
        request("a")
        with pytest.raises(ZeroDivisionError), transaction.atomic():
            request("b")
            raise ZeroDivisionError
        request("c")
    relaying.relay(composition.log())
    assert set(fold(composition.log())["route_request"]) == set(stored())
    assert {row[0] for row in stored()} == {"a", "c"}


WRITES = st.lists(
    st.tuples(
        st.sampled_from(
            ["create", "save", "update", "delete", "one", "bulk_create", "bulk_update", "upsert"]
        ),
        st.sampled_from("abc"),
        st.integers(1, 3),
    ),
    max_size=12,
)


def write(kind: str, session: str, node: int) -> None:
    found = RouteRequest.objects.filter(session=session)
    fields = {"browser": "b", "node": node, "goal": "free-machine:LaTeX", "step_free": False}
    match kind:
        case "create" if not found.exists():
            RouteRequest.objects.create(session=session, **fields)
        case "save" if one := found.first():
            one.node = node
            one.save(update_fields=["node"])
        case "update":
            found.update(node=node)
        case "delete":
            found.delete()
        case "one" if one := found.first():
            one.node = 99  # what the caller's object says is not what is stored
            one.delete()
        case "bulk_create" if not found.exists():
            RouteRequest.objects.bulk_create([RouteRequest(session=session, **fields)])
        case "bulk_update":
            many = list(RouteRequest.objects.all())
            for one in many:
                one.node = node
            RouteRequest.objects.bulk_update(many, ["node"])
        case "upsert":
            RouteRequest.objects.update_or_create(session=session, defaults=fields)


@pytest.mark.django_db(transaction=True)
@given(WRITES, st.lists(st.integers(1, 12), max_size=3))
@quick(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_write_reaches_the_log_once_through_any_deaths(building, by_hand, writes, deaths):
    forget_the_log(building)
    RouteRequest.objects.all().delete()
    log = MortalLog(composition.log(), deaths)
    for kind, session, node in writes:
        write(kind, session, node)
        try:
            relaying.relay(log)
        except Killed:
            continue
    for _ in deaths:
        try:
            relaying.relay(log)
        except Killed:
            continue
    relaying.relay(composition.log())
    assert fold(composition.log()).get("route_request", {}) == stored()


def test_a_crash_between_append_and_mark_repeats_nothing(building):
    relaying.relay(composition.log())
    request()
    start = composition.log().head()
    with pytest.raises(Killed):
        relaying.relay(MortalLog(composition.log(), deaths=[2]))
    assert OutboxEntry.objects.filter(position=None).exists()
    assert composition.log().head() == start + 1
    relaying.relay(composition.log())
    assert composition.log().head() == start + 1
    assert OutboxEntry.objects.get(position=start + 1).body["changes"]


def in_token(token, weight, session, node):
    """An outbox entry of a database transaction, as it lies in the table."""
    change = ["route_request", weight, session, node, "free-machine:LaTeX", False]
    return OutboxEntry.objects.create(token=token, body={"changes": [change]})


def nodes_told(start):
    log = composition.log()
    entries = [entry for _, entry in log.read(start, log.head()) if isinstance(entry, Transaction)]
    return [[(c.weight, c.row[1]) for c in entry.changes] for entry in entries]


def test_transactions_reach_the_log_in_the_order_in_which_they_ended(building):
    """By the last entry of each: its token is random, and its first entry may be older."""
    relaying.relay(composition.log())
    start = composition.log().head()
    tokens = [f"{number:02x}" for number in (9, 3, 12, 1, 7, 5)]
    for node, token in enumerate(tokens):
        in_token(token, 1, "a", node)
    # This one began first and waited for the others' locks: it ended last.
    in_token(tokens[0], -1, "a", 4)
    assert relaying.relay(composition.log()) == len(tokens)
    told = nodes_told(start)
    assert told[:-1] == [[(1, node)] for node in range(1, len(tokens))]
    assert told[-1] == [(-1, 4), (1, 0)]


def test_more_transactions_than_one_look_finds_keep_their_order(building, monkeypatch):
    monkeypatch.setattr(relaying, "TRANSACTIONS_AT_ONCE", 3)
    relaying.relay(composition.log())
    start = composition.log().head()
    for node in range(10):
        in_token(f"{(7 * node) % 10}", 1, "a", node)
    assert relaying.relay(composition.log()) == 10
    assert nodes_told(start) == [[(1, node)] for node in range(10)]


def test_a_wiped_log_is_told_everything_again(building):
    request("a")
    relaying.relay(composition.log())
    first = LogLink.objects.get().identity
    request("b")
    forget_the_log(building)
    relaying.relay(composition.log())
    assert LogLink.objects.get().identity != first
    assert fold(composition.log())["route_request"] == stored()


def test_a_log_of_another_database_is_told_the_difference(building):
    request("old")
    request("both")
    view = {"sql": "", "plan_hash": "", "strategy": "s", "columns": [], "sources": []}
    MaintainedView.objects.create(name="v", plan_text="one", **view)
    relaying.relay(composition.log())
    # Another database: nothing of the first one's link, outbox or rows.
    LogLink.objects.all().delete()
    OutboxEntry.objects.all().delete()
    RouteRequest.objects.filter(session="old").delete()
    MaintainedView.objects.update(plan_text="two")
    request("new")
    start = composition.log().head()
    relaying.relay(composition.log())
    assert fold(composition.log())["route_request"] == stored()
    news = [entry for _, entry in composition.log().read(start, composition.log().head())]
    rows = [entry for entry in news if isinstance(entry, Transaction)]
    assert {change.row[0] for entry in rows for change in entry.changes} == {"old", "new"}
    commands = [entry for entry in news if isinstance(entry, Register | Unregister)]
    assert [type(one).__name__ for one in commands] == ["Unregister", "Register"]


def test_a_compacted_log_of_another_database_is_told_the_difference(building):
    request("old")
    request("both")
    relaying.relay(composition.log())
    log, lane = composition.log(), Lane()
    lane.apply(log.read(0, log.head()))
    log.append([Tick(5.0)])
    log.compact(Base(lane.position, lane.snapshot()))
    LogLink.objects.all().delete()
    OutboxEntry.objects.all().delete()
    RouteRequest.objects.filter(session="old").delete()
    request("new")
    start = log.head()
    relaying.relay(log)
    news = [entry for _, entry in log.read(start, log.head()) if isinstance(entry, Transaction)]
    changes = {(change.weight, change.row[0]) for entry in news for change in entry.changes}
    assert changes == {(-1, "old"), (1, "new")}


def test_many_changes_are_cut_into_entries(building):
    RouteRequest.objects.bulk_create(
        RouteRequest(session=f"s{i}", browser="b", node=i, goal="x") for i in range(4_500)
    )
    relaying.relay(composition.log())
    sizes = [len(e.changes) for e in told(composition.log()) if isinstance(e, Transaction)]
    assert sizes == [2_000, 2_000, 500]


def test_views_begin_and_end_in_order(building):
    bodies = [{"unregister": "v"}, {"register": ["v", "plan", "recompute"]}]
    assert list(relaying.entries_of(bodies, at_s=3.0)) == [
        Unregister(3.0, "v"),
        Register(3.0, "v", "plan", "recompute"),
    ]


def test_conflict_clauses_are_refused(building):
    with pytest.raises(UnsupportedWrite, match="cannot resolve conflicts"):
        RouteRequest.objects.bulk_create([RouteRequest(session="a")], ignore_conflicts=True)
    with pytest.raises(UnsupportedWrite, match="primary key"):
        RouteRequest.objects.update(session="b")


def test_a_row_that_would_poison_the_log_does_not_commit(building):
    for node in ("1", None, True):
        with pytest.raises(SchemaError, match="node"):
            record([("route_request", 1, ("a", node, "free-machine:LaTeX", False))])
    with pytest.raises(SchemaError, match="finite"):
        record([("door", 1, ("d", "open", math.nan, 0.0, "0", 1.0))])
    assert not OutboxEntry.objects.exists()


def test_redis_away_postpones(building, settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    composition.server.cache_clear()
    request()
    assert relaying.relay_now() == 0
    assert OutboxEntry.objects.filter(position=None).exists()


@pytest.mark.django_db(transaction=True)
def test_a_commit_relays_by_itself(building):
    request()
    assert fold(composition.log())["route_request"] == stored()
    assert not OutboxEntry.objects.filter(position=None).exists()
