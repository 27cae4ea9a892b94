"""After a death the next one knows what its predecessor was at, and never asks it again."""

from __future__ import annotations

import secrets

import pytest
from spark.test_lane_processor import Worker, first_batch, folded_by

from aspen.log.entry import Change, OneTimeQuery, Quarantined, Transaction, decode, encode
from aspen.log.redis_log import RedisLog
from aspen.results.wire import decode_changes
from aspen.runtime.lane import Lane
from aspen.spark import in_work
from aspen.spark.in_work import (
    DeadlyEntry,
    Deaths,
    InWork,
    alone_at,
    ended_in_order,
    is_deadly,
    path_of,
)

QUESTION = encode(OneTimeQuery(1.0, "q", "reach", (1, 2)))
EDIT = encode(Transaction(1.0, (Change("link", 1, (1, 2, 1)),)))


def test_what_is_still_in_work_is_a_death(tmp_path):
    marks = InWork(tmp_path / "m")
    marks.note(3, 5)
    marks.note(6, 6)
    assert InWork(tmp_path / "m").look() == Deaths(((6, 6),))
    assert InWork(tmp_path / "m").look().alone == {6: 1}
    marks.note(7, 9)
    marks.done()
    marks.note(7, 8)
    assert marks.look().suspects == {6, 7, 8}
    marks.forget(7)
    assert marks.look().ranges == ((7, 8),)


def test_half_a_line_is_no_death(tmp_path):
    (tmp_path / "m.deaths").write_text("4 4\n5 ")
    assert InWork(tmp_path / "m").look().ranges == ((4, 4),)


def test_a_folder_that_cannot_be_written_is_no_obstacle(tmp_path):
    (tmp_path / "file").write_text("")
    marks = InWork(tmp_path / "file" / "m")
    marks.note(1, 1)
    marks.done()
    assert marks.look() == Deaths()


def test_of_several_lanes_the_one_that_died_most_often_counts(tmp_path):
    for lane, times in ((0, 1), (1, 2)):
        marks = InWork(path_of(tmp_path, "log", lane))
        for _ in range(times):
            marks.note(9, 9)
            marks.look()
    InWork(path_of(tmp_path, "another", 0)).note(9, 9)
    assert alone_at(tmp_path, "log", 0) == {9: 2}
    assert alone_at(tmp_path, "log", 9) == {}


def test_who_ends_in_order_was_not_killed_by_what_he_was_at(tmp_path):
    InWork(path_of(tmp_path, "log", 0)).note(9, 9)
    ended_in_order(tmp_path, "log")
    assert alone_at(tmp_path, "log", 0) == {}


def test_a_question_is_deadly_at_once_and_an_edit_the_second_time():
    assert is_deadly(QUESTION, 1)
    assert not is_deadly(EDIT, 1)
    assert is_deadly(EDIT, 2)


class Dying:
    """A lane's `apply` that ends its process, as far as anybody can tell, at some positions."""

    def __init__(self, monkeypatch, *deadly):
        self.deadly, self.reached, self.apply = set(deadly), [], Lane._apply

        def apply(lane, entries, **options):
            return self.run(lane, entries, **options)

        monkeypatch.setattr(Lane, "_apply", apply)

    def run(self, lane, entries, **options):
        note = lane.at_work

        def at_work(first, last):
            note(first, last)
            self.reached.append((first, last))
            entry = dict(entries)[last]
            if last in self.deadly and not isinstance(entry, Quarantined):
                raise SystemExit

        lane.at_work = at_work
        return self.apply(lane, entries, **options)


def test_a_question_that_ended_a_worker_is_refused_by_the_next_and_in_no_rebuild(
    tmp_path, monkeypatch
):
    worker = Worker(marks=str(tmp_path))
    worker.accept(worker.run(first_batch()))
    at = worker.position
    dying = Dying(monkeypatch, at + 2)
    with pytest.raises(SystemExit):
        worker.run([EDIT, QUESTION, EDIT])
    row = worker.run([EDIT, QUESTION, EDIT], worker=1)
    answer = next(c for c in decode_changes(row.changes) if c.view == "why:q")
    assert answer.error["code"] == "aspen.log.entry_quarantined"
    worker.accept(row)
    # Every later worker finds it refused already in what is stored.
    kinds = [type(decode(bytes(item[2]))) for item in worker.history() if item[0] == at + 2]
    assert kinds == [Quarantined]
    assert dying.reached.count((at + 2, at + 2)) == 2


def test_an_edit_that_ends_worker_after_worker_is_found_and_handed_to_the_next_engine(
    tmp_path, monkeypatch
):
    worker = Worker(marks=str(tmp_path))
    worker.accept(worker.run(first_batch()))
    at = worker.position
    Dying(monkeypatch, at + 3)
    for number in range(3):
        with pytest.raises(SystemExit):
            worker.run([EDIT] * 4, worker=number)
    with pytest.raises(DeadlyEntry, match=f"2 times at log position {at + 3}"):
        worker.run([EDIT] * 4, worker=3)
    assert alone_at(tmp_path, "log", at) == {at + 3: 2}


def test_what_takes_two_random_kills_is_taken_up_again(tmp_path, monkeypatch):
    worker = Worker(marks=str(tmp_path))
    worker.accept(worker.run(first_batch()))
    at = worker.position
    for victim in (4, 2):
        dying = Dying(monkeypatch, at + victim)
        with pytest.raises(SystemExit):
            worker.run([EDIT] * 4, worker=victim)
        monkeypatch.setattr(Lane, "_apply", dying.apply)
    row = worker.run([EDIT] * 4, worker=5)
    assert folded_by(row)["reach"] == {(1, 2): 1}


def test_the_log_leaves_an_entry_out_and_takes_it_in_again(redis_url):
    log = RedisLog(redis_url, f"test-{secrets.token_hex(4)}")
    log.append([decode(EDIT), decode(EDIT), decode(EDIT)])
    log.leave_out(2, 2)
    assert [type(entry) for _, entry in log.read(0, 3)] == [Transaction, Quarantined, Transaction]
    (one,) = log.left_out()
    assert (one.position, one.deaths, one.entry) == (2, 2, EDIT.decode())
    assert log.take_in_again(one) == log.take_in_again(one) == 4
    assert isinstance(dict(log.read(0, 4))[2], Quarantined)
    assert dict(log.read(0, 4))[4].changes == decode(EDIT).changes
    assert log.left_out()[0].taken_in_at == 4


def test_marks_are_opened_once(tmp_path):
    assert in_work.marks_at(str(tmp_path / "m")) is in_work.marks_at(str(tmp_path / "m"))
