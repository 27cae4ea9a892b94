"""Following views: what the server says, scripted, through gaps, refusals and restarts."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.exceptions import ConnectionClosedError

from smartcis.client import (
    Fold,
    NoConnection,
    Problem,
    ViewDelta,
    ViewEnded,
    ViewError,
    ViewGap,
    ViewSnapshot,
)
from smartcis.client.live import Follower
from smartcis.live import protocol

COLUMNS = [protocol.ViewColumn("a", "INT", "kg"), protocol.ViewColumn("b", "TEXT", "")]
WELCOME = protocol.Welcome(protocol.PROTOCOL, 1, "live")
CUT = ConnectionClosedError(None, None)


class ScriptedServer:
    """Opens sockets that say what a script holds; what they are told is read as the server does.

    Args:
        sockets: of each connection, what it says: messages, functions of the last subscription's
            number to a message, or errors.
    """

    def __init__(self, *sockets):
        self.sockets = iter(sockets)
        self.told: list[protocol.ClientMessage] = []

    def connect(self):
        script = next(self.sockets)
        if isinstance(script, Exception):
            raise script
        self.script = iter(script)
        return self

    def send(self, text):
        self.told.append(protocol.decode(text))

    def recv(self, timeout):
        assert timeout > 0
        said = next(self.script)
        if isinstance(said, Exception):
            raise said
        if callable(said):
            said = said(self.subscribed[-1].id)
        return said if isinstance(said, str) else protocol.encode(said)

    @property
    def subscribed(self):
        return [one for one in self.told if isinstance(one, protocol.Subscribe)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


@pytest.fixture(autouse=True)
def waits_s(monkeypatch):
    waits_s: list[float] = []
    monkeypatch.setattr("smartcis.client.live.sleep", waits_s.append)
    return waits_s


def following(*sockets, width=None):
    server = ScriptedServer(*sockets)
    return server, Follower(server.connect, "http://server", [("v", width)]).news()


def snapshot(epoch, *rows):
    return lambda number: protocol.Snapshot(
        number, "v", COLUMNS, epoch, epoch, 0.5, 1, None, False, [list(row) for row in rows]
    )


def delta(prev, epoch, *changes):
    return lambda number: protocol.Delta(number, prev, epoch, epoch, 0.5, 1, False, list(changes))


def refusal(code, retry_s=None, *, of_all=False):
    return lambda number: protocol.WireError(
        None if of_all else number, code, "no", None, "", [], "", retry_s
    )


def test_rows_and_changes_are_named_tuples():
    _, news = following([WELCOME, snapshot(1, (1, "x")), delta(1, 2, (-1, 1, "x"), (2, 2, "y"))])
    first, second = next(news), next(news)
    assert (first.rows[0].a, first.rows.columns[0].unit, first.rows.epoch) == (1, "kg", 1)
    assert [row.b for row in second.removed + second.added] == ["x", "y", "y"]


def test_a_cut_resumes_where_it_was(waits_s):
    server, news = following(
        [WELCOME, snapshot(3, (1, "x")), CUT], [WELCOME, delta(3, 9, (1, 2, "y"))]
    )
    heard = [next(news) for _ in range(3)]
    assert [type(one) for one in heard] == [ViewSnapshot, ViewGap, ViewDelta]
    assert [one.since for one in server.subscribed] == [None, 3]
    assert waits_s == [heard[1].wait_s]


def test_a_return_without_news_is_told_once():
    _, news = following(
        [WELCOME, snapshot(3), CUT], [WELCOME, delta(3, 3), delta(3, 3), delta(3, 4, (1, 1, "x"))]
    )
    heard = [next(news) for _ in range(4)]
    assert [getattr(one, "changes", None) for one in heard] == [None, None, (), ((1, (1, "x")),)]


def test_waiting_doubles_until_somebody_answers(waits_s):
    _, news = following([WELCOME, snapshot(1), CUT], *[OSError("away")] * 8, [WELCOME, snapshot(2)])
    heard = [next(news) for _ in range(11)]
    assert isinstance(heard[-1], ViewSnapshot)
    assert len(waits_s) == 9
    assert waits_s[0] < waits_s[4] <= max(waits_s) <= 15


def test_a_missed_change_is_asked_for_under_a_fresh_number():
    stale = lambda number: protocol.Delta(number - 1, 8, 9, 9, 0.5, 1, False, [(1, 5, "z")])  # noqa: E731
    server, news = following(
        [WELCOME, snapshot(3), delta(5, 6, (1, 1, "x")), stale, delta(3, 9, (1, 2, "y"))]
    )
    heard = [next(news) for _ in range(3)]
    assert [type(one) for one in heard] == [ViewSnapshot, ViewGap, ViewDelta]
    assert heard[1].view == "v"
    assert heard[2].changes == ((1, (2, "y")),)
    assert [one.since for one in server.subscribed] == [None, 3]
    assert protocol.Unsubscribe(1) in server.told


def test_an_impossible_change_is_mended_by_a_snapshot():
    server, news = following(
        [WELCOME, snapshot(3), delta(3, 4, (-1, 1, "x")), snapshot(4, (2, "y"))]
    )
    heard = [next(news) for _ in range(3)]
    assert [type(one) for one in heard] == [ViewSnapshot, ViewGap, ViewSnapshot]
    assert [one.since for one in server.subscribed] == [None, None]


def test_what_is_too_much_is_asked_for_again():
    server, news = following(
        [WELCOME, refusal("smartcis.limits.reached", 0), TimeoutError(), snapshot(3)]
    )
    refused, first = next(news), next(news)
    assert (refused.view, refused.problem.retry_s) == ("v", 0)
    assert isinstance(first, ViewSnapshot)
    assert [one.id for one in server.subscribed] == [1, 2]


def test_a_socket_too_many_comes_back_when_it_is_told(waits_s):
    _, news = following(
        [refusal("smartcis.limits.reached", 30, of_all=True), CUT], [WELCOME, snapshot(1)]
    )
    heard = [next(news) for _ in range(3)]
    assert [type(one) for one in heard] == [ViewError, ViewGap, ViewSnapshot]
    assert waits_s == [30]


def test_a_view_that_fails_is_told_and_followed_on():
    _, news = following(
        [WELCOME, snapshot(1), refusal("aspen.views.too_many_rows"), *protocol.retraction(1, "v")]
    )
    heard = [next(news) for _ in range(4)]
    assert [type(one) for one in heard] == [ViewSnapshot, ViewError, ViewSnapshot, ViewEnded]


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (refusal("smartcis.live.unknown_view"), "smartcis.live.unknown_view"),
        (refusal("smartcis.live.forbidden"), "smartcis.live.forbidden"),
        (protocol.Welcome(2, 1, "live"), "smartcis.client.protocol"),
    ],
)
def test_what_no_waiting_mends_is_raised(said, code):
    _, news = following([said])
    with pytest.raises(Problem) as refused:
        next(news)
    assert refused.value.code == code


def test_who_never_answers_is_no_server():
    _, news = following(OSError("refused"))
    with pytest.raises(NoConnection):
        next(news)


def test_silence_is_a_cut(monkeypatch):
    seconds = iter(range(0, 1_000, 7))
    monkeypatch.setattr("smartcis.client.live.monotonic", lambda: next(seconds))
    _, news = following([WELCOME, snapshot(1), *[TimeoutError()] * 4], [WELCOME, snapshot(2)])
    heard = [next(news) for _ in range(3)]
    assert [type(one) for one in heard] == [ViewSnapshot, ViewGap, ViewSnapshot]
    assert "not a word" in heard[1].reason


@pytest.mark.parametrize("text", ["{", "[]", '{"type":"delta","id":1}', "17"])
def test_what_is_no_message_is_one_problem(text):
    _, news = following([WELCOME, snapshot(1), text])
    assert isinstance(next(news), ViewSnapshot)
    with pytest.raises(Problem) as odd:
        next(news)
    assert odd.value.code == "smartcis.client.odd_answer"


def test_hidden_columns_stay_hidden():
    _, news = following(
        [WELCOME, snapshot(1, (1, "x")), delta(1, 2, (-1, 1, "x"), (1, 1, "y"))], width=1
    )
    first, second = next(news), next(news)
    assert first.rows.names == ("a",)
    assert second.changes == ((-1, (1,)), (1, (1,)))
    fold = Fold()
    fold.take(first)
    fold.take(second)
    assert list(fold.rows) == [(1,)]


ROW = st.tuples(st.integers(0, 2), st.sampled_from("xy"))
STATES = st.lists(st.lists(ROW, max_size=4).map(Counter), min_size=1, max_size=8)


@given(STATES, st.data())
def test_the_fold_equals_the_view_through_any_cuts(states, draw):
    """Law: whatever is cut, forgotten or lost on the way, the fold ends at the server's view."""
    sockets, said, sent = [], [WELCOME, snapshot(1, *states[0].elements())], 0
    for now in range(1, len(states)):
        match draw.draw(st.sampled_from(["send", "merge", "cut", "cut and forget", "lose"])):
            case "merge":
                continue
            case "cut":
                sockets.append([*said, CUT])
                said = [WELCOME]
            case "cut and forget":
                sockets.append([*said, CUT])
                said, sent = [WELCOME, snapshot(now + 1, *states[now].elements())], now
                continue
            case "lose":
                said.append(delta(sent + 2, sent + 3))  # its forerunner was lost
        said.append(change(states, sent, now))
        sent = now
    said.append(change(states, sent, len(states) - 1))
    _, news = following(*sockets, said)
    fold = Fold()
    with pytest.raises(RuntimeError):  # the script has ended
        for one in news:
            fold.take(one)
    assert fold.counts == states[-1]


def change(states, before, now):
    rows = {*states[before], *states[now]}
    changes = [(states[now][row] - states[before][row], *row) for row in sorted(rows)]
    return delta(before + 1, now + 1, *(one for one in changes if one[0]))


def test_a_fold_refuses_what_does_not_fit():
    fold = Fold()
    with pytest.raises(ValueError, match="not there"):
        fold.take(ViewDelta("v", ((-1, (1,)),), 1, 1, 0.0))
    assert json.dumps(list(fold.rows)) == "[]"
