"""A checkpoint is continued only when log and results agree with it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from aspen.log.redis_log import NewestSuperstep
from aspen.results.protocol import Savepoint
from aspen.spark.checkpoint import (
    FAILED_STARTS,
    Checkpoint,
    LogEnds,
    Prepared,
    format_of,
    prepare_checkpoint,
    read_checkpoint,
    start_failed,
    start_succeeded,
)

GOOD = Checkpoint(generation="g", format=format_of(1), log="L", position=9, committed=3, done=7)


@pytest.mark.parametrize(
    ("lanes", "log", "writer", "reason"),
    [
        (1, ("L", 9), ("g", 3), ""),
        (1, ("L", 50), ("g", 4), ""),  # the sink was ahead of Spark's commit
        (2, ("L", 9), ("g", 3), "format"),
        (1, ("M", 9), ("g", 3), "another log"),
        (1, ("L", 8), ("g", 3), "the log ends at 8"),
        (1, ("L", 9), ("h", 3), "do not hold"),
        (1, ("L", 9), ("g", 2), "do not hold"),
        (1, ("L", 9), ("", -1), "do not hold"),
        (1, ("L", 9, 7), ("g", 3), ""),
        (1, ("L", 9, 8), ("g", 3), "the log begins at 8"),
    ],
)
def test_it_is_continued_only_when_everything_agrees(lanes, log, writer, reason):
    found = GOOD.unusable(format_of(lanes), LogEnds(*log), writer)
    assert (reason in found) if reason else found == ""


@pytest.mark.parametrize(
    ("newest", "writer", "published", "since", "usable"),
    [
        (NewestSuperstep(5, "g", (3, 2)), ("g", 1), 6, 6, True),
        (
            NewestSuperstep(5, "g", (4, 3)),
            ("g", 1),
            6,
            6,
            True,
        ),  # the sink was ahead of Spark's commit
        (NewestSuperstep(5, "g", (4,)), ("g", 3), 7, 6, True),  # batch 3 was quiescent
        (NewestSuperstep(5, "g", (4,)), ("g", 2), 6, 6, False),  # it was, and its epoch is lost
        (NewestSuperstep(5, "g", (3, 2)), ("g", 1), 5, 6, False),  # the epoch before is lost
        (NewestSuperstep(5, "g", (3, 2)), ("", -1), 0, 6, False),  # all are
        (
            NewestSuperstep(5, "g", (3, 2)),
            ("f", 90),
            9,
            0,
            True,
        ),  # nobody has heard of this query yet
        (NewestSuperstep(5, "f", (3, 2)), ("g", 1), 6, 6, False),
        (NewestSuperstep(4, "g", (3, 2)), ("g", 1), 6, 6, False),  # supersteps are lost
    ],
)
def test_a_batch_that_became_a_superstep_is_done(newest, writer, published, since, usable):
    found = replace(GOOD, supersteps=5, since=since)
    log = LogEnds("L", 9, 0, newest)
    assert (found.unusable(format_of(1), log, writer, published) == "") is usable


@pytest.mark.parametrize(("base", "usable"), [(0, True), (8, True), (9, False), (20, False)])
def test_a_first_batch_that_was_not_done_must_reach_beyond_the_base(base, usable):
    begun = Checkpoint(generation="g", format=format_of(1), log="L", position=9)
    assert (begun.unusable(format_of(1), LogEnds("L", 30, base), ("", -1)) == "") is usable


def write(folder, offset='{"log": "L", "position": 9}'):
    (folder / "offsets").mkdir(parents=True)
    (folder / "commits").mkdir()
    (folder / "metadata").write_text(json.dumps({"id": "g"}))
    (folder / "format").write_text(format_of(1))
    for batch in (9, 10):
        (folder / "offsets" / str(batch)).write_text(f"v1\n{{}}\n{offset}")
    (folder / "offsets" / ".10.crc").write_text("")
    (folder / "commits" / "9").write_text("v1\n{}")


def test_a_folder_as_spark_writes_it_is_read(tmp_path):
    write(tmp_path / "cp")
    assert read_checkpoint(tmp_path / "cp") == Checkpoint("g", format_of(1), "L", 9, 9, 9)


def test_a_missing_folder_is_an_empty_checkpoint(tmp_path):
    assert read_checkpoint(tmp_path / "cp") == Checkpoint()
    assert prepare_checkpoint(tmp_path / "cp", 1, LogEnds("L", 5), ("x", 7), 0) == Prepared()
    assert (tmp_path / "cp" / "format").read_text() == format_of(1)


def test_one_of_use_is_kept(tmp_path):
    write(tmp_path / "cp")
    found = prepare_checkpoint(tmp_path / "cp", 1, LogEnds("L", 9), ("g", 10), 9)
    assert found == Prepared(supersteps=0)
    assert (tmp_path / "cp" / "offsets" / "10").exists()


def test_one_of_no_use_is_dropped(tmp_path):
    write(tmp_path / "cp")
    prepared = prepare_checkpoint(tmp_path / "cp", 1, LogEnds("M", 9), ("g", 10), 9)
    assert "another log" in prepared.dropped
    assert prepared.savepoint is None
    assert not (tmp_path / "cp" / "offsets").exists()


def test_one_of_an_earlier_format_is_dropped_and_all_is_built_from_the_log(tmp_path):
    folder = tmp_path / "cp"
    write(folder)
    (folder / "state").mkdir()
    (folder / "format").write_text("format 2, lanes 1")
    found = prepared(folder, 1)
    assert found == Prepared(f"it has format 2, lanes 1, the engine has {format_of(1)}")
    assert [file.name for file in folder.iterdir()] == ["format"]
    assert read_checkpoint(folder) == Checkpoint(format=format_of(1))


@pytest.mark.parametrize("offset", ["", "-", "{", '{"log": "L"}'])
def test_a_torn_one_is_dropped(tmp_path, offset):
    write(tmp_path / "cp", offset)
    prepared = prepare_checkpoint(tmp_path / "cp", 1, LogEnds("L", 9), ("g", 10), 9)
    assert "cannot be read" in prepared.dropped
    assert prepared.savepoint is None
    assert (tmp_path / "cp.broken" / "metadata").exists()
    assert str(tmp_path / "cp.broken") in prepared.dropped


def test_one_that_engine_after_engine_fails_to_start_from_is_set_aside(tmp_path):
    folder = tmp_path / "cp"
    write(folder)
    for _ in range(FAILED_STARTS - 1):
        start_failed(folder)
        assert prepared(folder, 1).dropped == ""
    start_succeeded(folder)
    for _ in range(FAILED_STARTS):
        assert prepared(folder, 1).dropped == ""
        start_failed(folder)
    assert "failed to start from it" in prepared(folder, 1).dropped
    assert (tmp_path / "cp.broken" / "offsets").exists()
    # The next one has no failures to answer for.
    write(folder)
    (folder / "metadata").write_text('{"id": "another"}')
    assert "failed to start" not in prepared(folder, 1).dropped


def test_failures_of_one_that_is_not_there_are_nobodys(tmp_path):
    start_failed(tmp_path / "cp")
    assert prepared(tmp_path / "cp", 1).dropped == ""


def prepared(folder, lanes, writer=("g", 10), published=9, base=0):
    return prepare_checkpoint(folder, lanes, LogEnds("L", 20, base), writer, published)


def test_another_number_of_lanes_goes_on_from_where_the_results_stand(tmp_path):
    folder = tmp_path / "cp"
    write(folder)
    found = prepared(folder, 2)
    assert "format" in found.dropped
    assert found.savepoint == Savepoint("g", 9)
    assert read_checkpoint(folder).format == format_of(2)


@pytest.mark.parametrize("begun", [False, True])
def test_killed_on_its_way_it_begins_again_from_the_same_savepoint(tmp_path, begun):
    folder = tmp_path / "cp"
    write(folder)
    prepared(folder, 2)
    if begun:  # some batches were applied in silence
        (folder / "offsets").mkdir()
        (folder / "commits").mkdir()
        (folder / "metadata").write_text('{"id": "h"}')
        for batch in (0, 1):
            (folder / "offsets" / str(batch)).write_text('v1\n{}\n{"log": "L", "position": 4}')
        (folder / "commits" / "0").write_text("v1\n{}")
    for lanes in (2, 4):
        assert prepared(folder, lanes).savepoint == Savepoint("g", 9)


def test_one_that_has_taken_over_is_continued_and_remembers_from_where(tmp_path):
    folder = tmp_path / "cp"
    write(folder)
    prepared(folder, 2)
    (folder / "offsets").mkdir()
    (folder / "commits").mkdir()
    (folder / "metadata").write_text('{"id": "h"}')
    (folder / "offsets" / "0").write_text('v1\n{}\n{"log": "L", "position": 9}')
    (folder / "commits" / "0").write_text("v1\n{}")
    assert prepared(folder, 2, ("h", 0)) == Prepared("", Savepoint("g", 9), 0)
    assert prepared(folder, 4, ("h", 3), 15).savepoint == Savepoint("h", 15)


@pytest.mark.parametrize(
    ("writer", "told", "base"),
    [(("x", 10), 9, 0), (("", -1), 0, 0), (("g", 10), 9, 12), (("g", 10), 21, 0)],
)
def test_without_results_of_its_own_a_rescaled_one_begins_anew(tmp_path, writer, told, base):
    folder = tmp_path / "cp"
    write(folder)
    assert prepared(folder, 2, writer, told, base).savepoint is None
