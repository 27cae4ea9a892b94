"""The client against a real server: queries, live views through a cut, walks, readings."""

from __future__ import annotations

import time

import httpx
import pytest
from client.cable import Cable

from smartcis import composition
from smartcis.access.owner import SYSTEM
from smartcis.actions.set_door_state import set_door_state
from smartcis.client import (
    Fold,
    NoConnection,
    Problem,
    SensorReading,
    SmartCIS,
    ViewDelta,
    ViewEnded,
    ViewGap,
    ViewSnapshot,
)
from smartcis.ingest import pressure
from smartcis.models import Machine, MaintainedQuery, RouteRequest

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
HOSTS = "SELECT m.mid, m.host FROM machine m"
PATIENCE_S = 120.0


def test_a_query_is_asked_once(visitor):
    rows = visitor.ask(f"{HOSTS} ORDER BY mid")
    assert [(row.mid, row.host) for row in rows] == [("m1", "host-m1"), ("m2", "host-m2")]
    assert rows.names == ("mid", "host")
    assert (rows.columns[0].type, rows.complete) == ("TEXT", True)
    assert visitor.ask_csv(f"ONCE {HOSTS} WHERE m.mid = 'm1'") == "mid,host\r\nm1,host-m1\r\n"
    assert not MaintainedQuery.objects.exists()


def test_a_problem_says_where(visitor):
    text = "SELECT m.mid,\n       m.hots FROM machine m"
    with pytest.raises(Problem) as refused:
        visitor.ask(text)
    problem = refused.value
    assert (problem.status, problem.code) == (400, "aspen.bind.unknown_column")
    assert (problem.position.line, problem.position.column) == (2, 8)
    assert "m.host" in problem.exists
    caret = problem.render(text).splitlines()[1:3]
    assert caret[1].index("^") == caret[0].index("m.hots")
    with pytest.raises(Problem) as checked:
        visitor.check(text)
    assert checked.value.position == problem.position


def test_a_text_is_checked_and_explained(visitor):
    checked = visitor.check(HOSTS)
    assert (checked.kind, checked.ways.once) == ("query", "")
    assert [column.name for column in checked.columns] == ["mid", "host"]
    explained = visitor.explain(HOSTS)
    assert "machine" in explained.text
    assert explained.explained


def test_a_query_is_kept_until_it_is_ended(visitor):
    with visitor.query(f"{HOSTS} ORDER BY mid DESC", name="Hosts") as query:
        assert [row.mid for row in query.rows()] == ["m2", "m1"]
        assert len(query.rows(limit=1)) == 1
        assert [one.id for one in visitor.queries(mine=True)] == [query.id]
        why = query.why(next(iter(query.rows())))
        assert {fact.relation for fact in why.sets[0]} == {"machine"}
        assert why.sets[0][0].row["host"] == "host-m2"
    assert not MaintainedQuery.objects.exists()


def test_what_is_not_kept_is_no_query(visitor, gate, served):
    with pytest.raises(Problem) as refused:
        visitor.query(f"ONCE {HOSTS}")
    assert refused.value.code == "smartcis.client.not_kept"
    with SmartCIS(f"http://{served}", gate, timeout_s=PATIENCE_S) as staff:
        made = staff.submit("CREATE TABLE seats (rid TEXT, seats INT, KEY (rid))")
        assert (made.statement, made.name) == ("CREATE TABLE", "seats")


def test_a_watch_survives_a_cut_and_says_so(visitor, cable):
    fold = Fold()
    with SmartCIS(cable.url, timeout_s=PATIENCE_S) as client, client.query(HOSTS) as query:
        heard = query.watch()
        first = next(heard)
        assert isinstance(first, ViewSnapshot)
        fold.take(first)
        Machine.objects.filter(mid="m1").update(host="renamed")
        while ("m1", "renamed") not in fold.counts:
            fold.take(next(heard))
        cable.cut()
        Machine.objects.filter(mid="m2").update(host="renamed")
        gap = next(heard)
        assert isinstance(gap, ViewGap)
        assert gap.wait_s > 0
        while ("m2", "renamed") not in fold.counts:
            news = next(heard)
            if isinstance(news, ViewGap):
                continue
            assert isinstance(news, ViewDelta), "the server remembers what was missed"
            fold.take(news)
        assert sorted(fold.counts.elements()) == [("m1", "renamed"), ("m2", "renamed")]
        assert sorted(map(tuple, query.rows())) == sorted(fold.counts.elements())
        heard.close()


def test_an_order_needs_columns_that_nobody_asked_for(visitor):
    with visitor.query("SELECT m.mid FROM machine m ORDER BY m.host DESC") as query:
        first = next(query.watch())
        assert first.rows.names == query.rows().names == ("mid",)
        assert sorted(row.mid for row in first.rows) == ["m1", "m2"]


def test_the_end_of_a_query_is_heard(visitor):
    query = visitor.query(HOSTS)
    heard = query.watch()
    assert isinstance(next(heard), ViewSnapshot)
    query.end()
    assert isinstance(next(one for one in heard if not isinstance(one, ViewDelta)), ViewEnded)
    heard.close()


def test_an_unknown_view_ends_the_watch(visitor, standing):
    with pytest.raises(Problem) as refused:
        next(visitor.watch("free_machines"))
    assert refused.value.code == "smartcis.live.unknown_view"
    assert "free_machine" in refused.value.exists


def test_nobody_answers():
    with SmartCIS("http://127.0.0.1:1", timeout_s=5) as client:
        with pytest.raises(NoConnection):
            client.building()
        with pytest.raises(NoConnection):
            next(client.watch("free_machine"))


ODD = [
    httpx.Response(200, html="<p>It works!</p>"),
    httpx.Response(200, json=[]),
    httpx.Response(200, json={"results": 7, "columns": 7, "levels": 7}),
    httpx.Response(301, headers={"Location": "https://elsewhere"}),
    httpx.Response(502, json={"detail": "no"}),
    httpx.Response(400, json={"message": "no", "position": 7}),
]


@pytest.mark.parametrize("answer", ODD)
@pytest.mark.parametrize(
    "ask",
    [
        lambda one: one.building(),
        lambda one: one.ask("SELECT 1"),
        lambda one: one.rows("a/../b"),
        lambda one: one.submit("SELECT 1"),
        lambda one: list(one.machines()),
        lambda one: one.push([{}]),
    ],
)
def test_somebody_else_answers(answer, ask):
    pages = httpx.MockTransport(lambda _: answer)
    with SmartCIS("http://elsewhere", transport=pages) as client, pytest.raises(Problem) as odd:
        ask(client)
    assert odd.value.code == "smartcis.client.odd_answer"


def test_a_name_is_one_segment():
    asked = []

    def look(request):
        asked.append(request.url.raw_path)
        return httpx.Response(404, json={"message": "no", "code": "c"})

    client = SmartCIS("http://there/", transport=httpx.MockTransport(look))
    with pytest.raises(Problem):
        client.rows("a/../b?c")
    assert asked == [b"/api/v1/queries/a%2F..%2Fb%3Fc/rows/"]


@pytest.mark.parametrize("url", ["nonsense", "http://[", "ftp://there", ""])
def test_an_address_that_is_none(url):
    with pytest.raises(NoConnection):
        SmartCIS(url).building()


def test_the_building_is_listed(visitor):
    assert visitor.building().software == ("LaTeX",)
    assert {room.id: room.node for room in visitor.rooms()} == {"A": 2, "B": 3, "hall": 1}
    assert [one.mid for one in visitor.machines(software="LaTeX")] == ["m1", "m2"]
    assert [one.id for one in visitor.doors(state="open")] == ["A.d1"]
    assert [one.sid for one in visitor.sensors(kind="seat")] == ["m1.seat", "m2.seat"]


def test_pages_are_walked(visitor, monkeypatch):
    monkeypatch.setattr("smartcis.client.server.PAGE_SIZE", 1)
    assert [one.mid for one in visitor.machines()] == ["m1", "m2"]


def test_a_walk_is_answered_and_followed(visitor, standing):
    with visitor.route("hall", "free-machine:LaTeX") as walk:
        found = walk.answer()
        assert (found.target, found.length_m) == ("m1", 4.0)
        assert [step.node for step in found.steps] == [1, 2]
        ways = walk.watch()
        assert next(ways) == found
        set_door_state("A.d1", "locked", SYSTEM)
        assert next(ways).target == "m2"
        walk.move("Room B")
        assert [step.node for step in next(ways).steps] == [3]
        ways.close()
    assert not RouteRequest.objects.exists()


def test_a_walk_begins_at_a_place(visitor):
    assert [visitor.node_of(place) for place in ("k1", "A", "Room B", "3", 3)] == [1, 2, 3, 3, 3]
    with pytest.raises(Problem) as odd:
        visitor.route("Rom A", "free-machine:LaTeX")
    assert odd.value.exists == ("Room A", "Room B")


def readings(number):
    now_s = time.time()
    return [SensorReading("m1.cpu", n % 100, "%", at_s=now_s) for n in range(number)]


def appended():
    log = composition.log()
    return [
        change.row[2]
        for _, entry in log.read(0, log.head())
        for change in getattr(entry, "changes", ())
        if change.relation == "cpu_reading"
    ]


def test_readings_are_pushed_in_calls(served, gate, monkeypatch):
    monkeypatch.setattr("smartcis.client.push.AT_ONCE", 2)
    with SmartCIS(f"http://{served}", gate, timeout_s=PATIENCE_S) as client:
        sent = readings(5)
        done = client.push(iter(sent), key="once")
        assert done.accepted == len(appended()) == 5
        assert client.push(sent, key="once").position == done.position
        assert len(appended()) == 5
        odd = [*readings(2), {"sid": "m1.cpu", "value": 1, "unit": "kg"}]
        with pytest.raises(Problem) as refused:
            client.push(odd)
    assert refused.value.__notes__ == ["2 readings before were taken"]
    assert len(appended()) == 7


def test_an_answer_that_is_lost_doubles_nothing(served, gate, monkeypatch):
    waits_s = []
    monkeypatch.setattr("smartcis.client.rest.sleep", waits_s.append)
    cable = Cable(served, cut_answers=2)
    with SmartCIS(cable.url, gate, timeout_s=PATIENCE_S) as client:
        assert client.push(readings(3)).accepted == 3
    cable.close()
    assert len(appended()) == 3
    assert len(waits_s) == 2


def test_who_is_told_to_come_back_does(served, gate, monkeypatch):
    waits_s, refusals = [], iter([pressure.Overrun(21_500), pressure.Overrun(20_001)])

    def full(*_args):
        if (refusal := next(refusals, None)) is not None:
            raise refusal

    monkeypatch.setattr("smartcis.client.rest.sleep", waits_s.append)
    monkeypatch.setattr("smartcis.actions.push_readings.check_pressure", full)
    with SmartCIS(f"http://{served}", gate, timeout_s=PATIENCE_S) as client:
        assert client.push(readings(1)).accepted == 1
    assert waits_s == [2, 1]


def test_patience_ends(served, gate, monkeypatch):
    def full(*_args):
        raise pressure.Overrun(99_000)

    monkeypatch.setattr("smartcis.actions.push_readings.check_pressure", full)
    with (
        SmartCIS(f"http://{served}", gate, patience_s=30, timeout_s=PATIENCE_S) as client,
        pytest.raises(Problem) as refused,
    ):
        client.push(readings(1))
    assert (refused.value.status, refused.value.retry_s) == (429, 60)
