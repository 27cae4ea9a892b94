"""Alarms of queries: kept under their key, the same after whatever restart, told once a step."""

from __future__ import annotations

import secrets
from random import Random

import pytest
from django.contrib.auth.models import User

from aspen.model.delta import Delta
from aspen.results import RedisResults
from aspen.results.protocol import ViewChange
from aspen.streamsql.alarm_rule import read_rule
from aspen.streamsql.statement import read_statement
from smartcis import composition
from smartcis.access.owner import Owner
from smartcis.actions.register_query import register_query
from smartcis.actions.unregister_query import unregister_query
from smartcis.deliveries.collect import collect
from smartcis.deliveries.lifecycle import AlarmStep, Seen, Watch, see, settle
from smartcis.errors import Invalid, Refused
from smartcis.models import Alarm, AlarmEvent, Delivery, Outlet, WatchedKey

pytestmark = [pytest.mark.database, pytest.mark.django_db]

SQL = (
    "SELECT t.rid, t.sid, t.celsius "
    "FROM temperature_reading [PARTITION BY sid ROWS 1 RANGE 300 SECONDS] t"
)
COLUMNS = (("rid", "TEXT", ""), ("sid", "TEXT", ""), ("celsius", "FLOAT", "°C"))
CLAUSES = (
    "ALARM 'too warm' KEY (rid) RAISE WHEN celsius >= 26 FOR 30 SECONDS "
    "CLEAR WHEN celsius < 25 FOR 60 SECONDS NO DATA AFTER 100 SECONDS SEVERITY critical"
)


@pytest.fixture
def staff(building, house) -> Owner:
    user = User.objects.create_user("gate", is_staff=True)
    return Owner(user_id=user.pk, staff=True, account="gate")


class Room:
    """A query over rooms' temperatures, and the result store written by hand."""

    def __init__(self, owner: Owner, output: str = CLAUSES, url: str = "", name: str = "") -> None:
        self.owner, self.url, self.name = owner, url, name
        self.query = register_query(
            read_statement(f"{SQL} OUTPUT TO {output}"), owner, name="warm rooms"
        )
        self.rows: dict[str, float] = {}
        self.batch = 0
        self.begin(0.0)

    def begin(self, at_s: float) -> None:
        """Let a new engine begin, with what rows there are."""
        self.generation = secrets.token_hex(4)
        self.write(at_s, {self.row(rid): 1 for rid in self.rows}, columns=COLUMNS)

    def row(self, rid: str) -> tuple[str, str, float]:
        return (rid, f"{rid}.t", self.rows[rid])

    def write(self, at_s: float, delta: Delta, *, keep: int = 4096, **said) -> None:
        self.batch += 1
        change = [ViewChange(self.query.view_id, delta, **said)] if delta or said else []
        results = composition.results()
        if keep != 4096:
            results = RedisResults(self.url, self.name, keep=keep)
        results.write(self.generation, self.batch, self.batch, at_s, change, {})

    def read(self, at_s: float, **celsius: float | None) -> None:
        """Let rooms be as warm as said, None for no data, and take that in."""
        self.change(at_s, celsius)
        self.collect()

    def change(self, at_s: float, celsius: dict[str, float | None], **more) -> None:
        delta: Delta = {}
        for rid, value in celsius.items():
            if rid in self.rows:
                delta[self.row(rid)] = -1
                del self.rows[rid]
            if value is not None:
                self.rows[rid] = value
                row = self.row(rid)
                delta[row] = delta.get(row, 0) + 1
        self.write(at_s, {row: weight for row, weight in delta.items() if weight}, **more)

    @staticmethod
    def collect() -> None:
        collect(composition.results())


def standing() -> list[tuple[str, str, float, float | None]]:
    found = Alarm.objects.filter(cleared_s=None).order_by("pk")
    return [(one.rid, one.kind, one.raised_s, one.value) for one in found]


def test_a_reading_that_stays_hot_changes_nothing_but_the_value(staff):
    rooms = Room(staff)
    rooms.read(10.0, A=26.1)
    assert standing() == []
    rooms.read(25.0, A=26.4)
    rooms.read(41.0)
    (alarm,) = Alarm.objects.all()
    assert (alarm.raised_s, alarm.value, alarm.unit, alarm.title) == (40.0, 26.4, "°C", "too warm")
    assert (alarm.severity, alarm.key) == ("critical", {"rid": "A"})
    for at_s, celsius in ((50.0, 27.0), (60.0, 25.5), (70.0, 26.2)):
        rooms.read(at_s, A=celsius)
    assert standing() == [("A", "threshold", 40.0, 26.2)]
    changed = Alarm.objects.get()
    assert (changed.pk, changed.changed_s, changed.message) == (
        alarm.pk,
        70.0,
        "rid A, sid A.t, celsius 26.2",
    )
    assert [one.what for one in AlarmEvent.objects.all()] == ["raised"]
    rooms.read(80.0, A=24.0)
    rooms.read(100.0, A=25.5)
    rooms.read(200.0, A=24.0)
    assert len(standing()) == 1, "cleared only once it has been below for a minute"
    rooms.read(261.0)
    alarm.refresh_from_db()
    assert (standing(), alarm.cleared_s) == ([], 260.0)
    assert list(alarm.rows()) == []
    assert not WatchedKey.objects.exists()


def test_silence_is_an_alarm_of_its_own_and_never_clears_another(staff):
    rooms = Room(staff)
    rooms.read(0.0, A=30.0)
    rooms.read(40.0, A=None)
    rooms.read(139.0)
    assert standing() == [("A", "threshold", 30.0, 30.0)]
    rooms.read(141.0)
    assert standing() == [("A", "threshold", 30.0, 30.0), ("A", "no data", 140.0, 30.0)]
    rooms.read(150.0, A=28.0)
    assert standing() == [("A", "threshold", 30.0, 28.0)]
    past = Alarm.objects.get(kind="no data")
    assert [one.what for one in past.events.all()] == ["no data", "data again"]


def test_a_key_without_rows_from_the_beginning_is_not_silent(staff):
    rooms = Room(staff)
    for at_s in (0.0, 1000.0):
        rooms.read(at_s)
    assert not Alarm.objects.exists()


def test_each_step_is_told_once_to_whom_the_rule_names(staff, settings):
    settings.WEBHOOKS = ["http://10.0.0.9/"]
    rooms = Room(
        staff, f"{CLAUSES} NOTIFY WEBHOOK 'http://10.0.0.9/a', WEBHOOK 'http://10.0.0.9/b'"
    )
    rooms.read(0.0, A=30.0)
    rooms.read(31.0, A=31.0)
    rooms.read(32.0, A=32.0)
    rooms.read(40.0, A=20.0)
    rooms.read(140.0)
    told = Delivery.objects.filter(alarm__isnull=False).order_by("pk")
    steps = [(one.target, one.alarm["step"], one.at_s) for one in told]
    assert steps == [("http://10.0.0.9/a", "raised", 30.0), ("http://10.0.0.9/a", "cleared", 100.0)]
    assert Delivery.objects.filter(target__endswith="b", alarm__isnull=True).count() == 7


def test_who_is_quiet_about_a_key_hears_nothing_of_it_when_it_comes_back(staff, settings):
    settings.WEBHOOKS = ["http://10.0.0.9/"]
    rooms = Room(staff, f"{CLAUSES} NOTIFY WEBHOOK 'http://10.0.0.9/a'")
    rooms.read(0.0, A=30.0)
    rooms.read(31.0)
    Alarm.objects.update(muted_until_s=500.0)
    rooms.read(40.0, A=20.0)
    rooms.read(110.0, A=30.0)
    rooms.read(150.0)
    again = Alarm.objects.get(cleared_s=None)
    assert (again.raised_s, again.muted_until_s) == (140.0, 500.0)
    assert Delivery.objects.count() == 1
    rooms.read(600.0, A=20.0)
    rooms.read(700.0)
    assert [one.alarm["step"] for one in Delivery.objects.order_by("pk")] == ["raised", "cleared"]


def test_an_alarm_outlives_its_query_as_history(staff):
    rooms = Room(staff)
    rooms.read(0.0, A=30.0)
    rooms.read(40.0)
    unregister_query(rooms.query.pk, staff)
    past = Alarm.objects.get()
    assert (past.outlet_id, past.query, past.cleared_s is not None) == (None, rooms.query.pk, True)
    assert past.events.last().what == "its query was stopped"
    assert not Outlet.objects.exists()
    assert not WatchedKey.objects.exists()


def test_of_several_rows_of_a_key_one_that_raises_is_enough(staff):
    rooms = Room(staff)
    rooms.collect()
    rooms.write(5.0, {("A", "a", 20.0): 1, ("A", "b", 27.0): 1, ("B", "c", 20.0): 1})
    rooms.write(20.0, {("A", "b", 27.0): -1, ("A", "d", 28.0): 1})
    rooms.write(36.0, {})
    rooms.collect()
    assert standing() == [("A", "threshold", 35.0, 28.0)]


@pytest.mark.parametrize(
    ("output", "error", "said"),
    [
        ("ALARM a, ALARM a", Invalid, "one name"),
        ("ALARM NOTIFY EMAIL 'a@b.example'", Refused, "sends no e-mail"),
        ("ALARM NOTIFY WEBHOOK 'http://elsewhere/'", Refused, "nobody allowed calls"),
        ("ALARM NOTIFY WEBHOOK ''", Invalid, "needs an address"),
    ],
)
def test_what_may_not_be_told_is_said(staff, output, error, said):
    with pytest.raises(error, match=said):
        Room(staff, output)


def said_by(rule, celsius: float | None) -> Seen:
    if celsius is None:
        return Seen.GONE
    return Seen.HOT if celsius >= 26 else Seen.COOL if celsius < 25 else Seen.BETWEEN


@pytest.mark.parametrize("seed", range(12))
def test_oracle_alarms_are_those_of_the_moments_seen_whatever_is_lost(
    staff, redis_url, building, seed
):
    """Values, gaps, engines that begin anew, epochs forgotten, collecting seldom or twice."""
    rng = Random(seed)
    rooms = Room(staff, url=redis_url, name=building)
    rooms.collect()
    rule = read_rule(Outlet.objects.get().outputs[0][2])
    at_s, seen_by = 0.0, {}
    pending: list[tuple[float, dict[str, float]]] = []
    whole = False
    for _ in range(60):
        at_s += rng.choice((0.0, 1.0, 15.0, 31.0, 70.0, 120.0))
        match rng.randrange(8):
            case 0:
                rooms.begin(at_s)
                whole = True
            case 1:
                whole |= len(pending) > 0
                rooms.write(at_s, {}, keep=1)
            case _:
                rooms.change(at_s, {rng.choice("AB"): rng.choice((24.0, 25.5, 26.0, 30.0, None))})
        pending.append((at_s, dict(rooms.rows)))
        for _ in range(rng.choice((0, 0, 1, 2))):
            rooms.collect()
            for moment in pending[-1:] if whole else pending:
                for rid in "AB":
                    look(seen_by, rule, rid, *moment)
            pending, whole = [], False
    pending.append((at_s + 1000.0, dict(rooms.rows)))
    rooms.write(at_s + 1000.0, {})
    for _ in range(2):
        rooms.collect()
    for moment in pending[-1:] if whole else pending:
        for rid in "AB":
            look(seen_by, rule, rid, *moment)
    expected = sorted(
        (rid, step.value, when) for rid, (_, told, _) in seen_by.items() for step, when in told
    )
    events = AlarmEvent.objects.select_related("alarm")
    assert sorted((one.alarm.rid, one.what, one.at_s) for one in events) == expected


def look(seen_by, rule, rid, at_s, rows) -> None:
    """Takes one moment of one room into what is expected; a room never seen is not silent."""
    if rid not in seen_by and rid not in rows:
        return
    watch, told, value = seen_by.get(rid, (Watch(), [], object()))
    if rows.get(rid) == value:
        watch, happened = settle(watch, rule, at_s)
    else:
        value = rows.get(rid)
        watch, happened = see(watch, rule, said_by(rule, value), at_s)
    assert all(isinstance(step, AlarmStep) for step, _ in happened)
    seen_by[rid] = (watch, told + happened, value)
