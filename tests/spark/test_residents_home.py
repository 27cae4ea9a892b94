"""Lanes asked for by other processes: real ones, which end, are killed, stand elsewhere, fail."""

from __future__ import annotations

import json
import signal
import socket
import stat
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from spark import product
from spark.test_engine import ENVIRONMENT, HERE
from spark.test_lane_processor import Worker, first_batch, how
from views import small_world as world

from aspen.log.entry import encode
from aspen.runtime.assignment import LaneShare
from aspen.runtime.lane import Lane
from aspen.spark import residents_home
from aspen.spark.residents import (
    RESIDENT,
    LaneAddress,
    LaneWork,
    Resident,
    WorkDone,
    decoded,
    perform,
)
from aspen.spark.residents_home import ask, listen, receive


@pytest.fixture
def elsewhere(tmp_path):
    """Start a process in which lanes live."""
    with ExitStack() as started:

        def start(position, data, *places, kind="Lane"):
            snapshot = tmp_path / "snapshot"
            snapshot.write_bytes(data)
            arguments = json.dumps(
                [str(tmp_path / "homes"), kind, position, str(snapshot), *places]
            )
            process = subprocess.Popen(
                [sys.executable, str(HERE / "home.py"), arguments],
                env={**ENVIRONMENT, "PYTHONPATH": f"{HERE.parents[1]}:{HERE.parent}"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            started.enter_context(process)
            started.callback(process.kill)
            assert process.stdout.readline() == b"ready\n"
            return process

        yield start
    RESIDENT.clear()


@pytest.fixture
def homes(tmp_path):
    return str(tmp_path / "homes")


def numbered(data, after=0):
    return list(enumerate(data, start=after + 1))


def born(place):
    """Returns a lane that has seen the first batch, its snapshot and what comes next."""
    lane = Lane(LaneShare(place.lane, place.lanes))
    lane.apply(decoded(numbered(first_batch())))
    model = world.Model()
    data = [encode(e) for n in range(6) for e in model.entries(("ins", "lit", (n % 5,)))]
    entries = numbered(data, lane.position)
    return lane, LaneWork(lane.position, entries[-1][0], entries)


def test_a_lane_elsewhere_does_what_it_would_do_here(elsewhere, homes):
    place = LaneAddress("a log", 1, 2)
    lane, work = born(place)
    process = elsewhere(lane.position, lane.snapshot(), place)
    asked, here = ask(homes, place, work), perform(Resident(lane), work)
    assert asked.pid == process.pid
    assert (asked.changes, asked.parts, asked.at_s) == (here.changes, here.parts, here.at_s)
    assert ask(homes, place, work) is None, "it stands at another position by now"
    again = LaneWork(work.last, work.last + 1, [(work.last + 1, b"junk")], compact_entries=0)
    asked, here = ask(homes, place, again), perform(Resident(lane), again)
    assert asked.snapshot == here.snapshot, "taken when it is due, wherever that is"
    assert Lane.restore(asked.snapshot, LaneShare(1, 2)).rows("region") == lane.rows("region")
    assert stat.S_IMODE(Path(homes).stat().st_mode) == 0o700


def test_another_lane_is_not_found(elsewhere, homes):
    place = LaneAddress("a log", 1, 2)
    lane, work = born(place)
    elsewhere(lane.position, lane.snapshot(), place)
    for other in (
        place._replace(log="another"),
        place._replace(lane=0),
        place._replace(lanes=3),
    ):
        assert ask(homes, other, work) is None
    assert ask("", place, work) is None
    assert ask(homes, place, work) is not None


def test_a_killed_owner_and_who_takes_over(elsewhere, homes):
    place = LaneAddress("a killed log", 1, 2)
    lane, work = born(place)
    process = elsewhere(lane.position, lane.snapshot(), place)
    process.kill()
    process.wait()
    assert ask(homes, place, work) is None, "its socket is still there"
    again = elsewhere(lane.position, lane.snapshot(), place)
    assert ask(homes, place, work).pid == again.pid


def test_an_owner_killed_in_the_middle_of_a_request(elsewhere, homes, tmp_path):
    place, began = LaneAddress("a stuck log", 0, 2), tmp_path / "began"
    process = elsewhere(0, str(began).encode(), place, kind="Stuck")
    answers = []
    asking = threading.Thread(
        target=lambda: answers.append(ask(homes, place, LaneWork(0, 1, [(1, b"junk")])))
    )
    asking.start()
    product.until(began.exists, "it applies the entries")
    process.send_signal(signal.SIGKILL)
    asking.join(product.LIMIT_S)
    assert answers == [None]


def test_a_lane_that_fails_is_left_to_the_task(elsewhere, homes):
    place = LaneAddress("a failing log", 0, 2)
    elsewhere(0, b"no", place, kind="Failing")
    for _ in range(2):
        assert ask(homes, place, LaneWork(0, 1, [(1, b"junk")])) is None


def test_whoever_makes_a_lane_owns_it(elsewhere, homes):
    place = LaneAddress("a moving log", 1, 2)
    lane, work = born(place)
    first = elsewhere(lane.position, lane.snapshot(), place)
    second = elsewhere(lane.position, lane.snapshot(), place)
    assert ask(homes, place, work).pid == second.pid
    RESIDENT[place] = Resident(lane)
    listen(homes, place)
    assert ask(homes, place, work) is None, "it lives here"
    assert first.poll() is None


def test_an_owner_of_many_gives_up_all_but_one(elsewhere, homes):
    places = [LaneAddress("an even log", number, 3) for number in range(3)]
    lane, work = born(places[0])
    elsewhere(lane.position, lane.snapshot(), *places)
    given_up = [ask(homes, place, work) is None for place in places]
    assert given_up == [True, True, False]


def test_what_is_given_up_parts_neighbours(elsewhere, homes):
    places = [LaneAddress("a parted log", number, 4) for number in range(4)]
    lane, work = born(places[0])
    elsewhere(lane.position, lane.snapshot(), places[0], places[2], places[3])
    RESIDENT[places[1]] = Resident(lane)
    given_up = [ask(homes, places[number], work) is None for number in (0, 2, 3)]
    assert given_up == [False, False, True]


def test_nobody_is_asked_in_a_folder_others_may_enter(homes, tmp_path):
    place = LaneAddress("an open log", 1, 2)
    Path(homes).mkdir(mode=0o755)
    Path(homes).chmod(0o755)
    listen(homes, place)
    assert list(Path(homes).iterdir()) == []
    deep = tmp_path.joinpath(*["folder"] * 20)
    assert residents_home.ask(str(deep), place, LaneWork(0, 0, [])) is None


def test_where_a_lane_lives_does_not_show(elsewhere, homes):
    """One lane of two is moved from process to process, and its owner is killed now and then."""
    asking, alone = Worker(lanes=2, number=1, homes=homes), Worker(lanes=2, number=1)
    place, model, found = LaneAddress("log", 1, 2), world.Model(), []
    batches = [first_batch()]
    for n in range(9):
        operations = [("ins", "lit", (n % 5,)), ("ins", "link", (n % 5, n % 3, 1)), ("tick", "", n)]
        batches.append([encode(e) for one in operations for e in model.entries(one)])
    owner = None
    for number, batch in enumerate(batches):
        if number in {2, 6}:
            (resident,) = asking.residents[0].values()
            owner = elsewhere(asking.position, resident.lane.snapshot(), place)
            asking.residents = [{}]
        if number == 4:
            owner.kill()
            owner.wait()
        row, expected = asking.run(batch), alone.run(batch)
        assert (row.changes, row.parts, row.at_s) == (
            expected.changes,
            expected.parts,
            expected.at_s,
        )
        assert asking.history() == alone.history()
        found.append(how(row).removeprefix("lane_"))
        asking.accept(row)
        alone.accept(expected)
    assert found == [
        "rebuilt",
        "warm",
        "asked",
        "asked",
        "rebuilt",
        "warm",
        *["asked"] * 4,
    ]


words, numbers = st.text(max_size=5), st.integers(0, 2**62)
entries = st.lists(st.tuples(st.integers(0, 2**62), st.binary(max_size=20)), max_size=5)
sent = st.one_of(
    st.builds(
        LaneWork,
        *(*[numbers] * 2, entries.map(tuple), *[numbers] * 4, words),
        st.lists(numbers, max_size=3).map(tuple),
    ),
    st.builds(
        WorkDone,
        pid=st.integers(1, 2**22),
        at_s=st.floats(allow_nan=False),
        changes=words,
        parts=words,
        snapshot=st.none() | st.binary(),
        ready_ms=st.floats(0, 1e13),
        applied_ms=st.just(1.0),
        done_ms=st.just(2.0),
        crossing=words,
        quiescent=st.booleans(),
    ),
)


@given(sent)
def test_law_messages_arrive_as_they_were_sent(message):
    here, there = socket.socketpair()
    with here, there:
        here.sendall(msgpack.packb(message))
        assert type(message)(*receive(there)) == message


@given(st.integers(0, 13))
def test_half_a_message_is_none(cut):
    here, there = socket.socketpair()
    whole = msgpack.packb(("x", b"0123456789"))
    assert len(whole) > 13
    with here, there:
        here.sendall(whole[:cut])
        here.shutdown(socket.SHUT_WR)
        with pytest.raises(msgpack.UnpackException):
            receive(there)
