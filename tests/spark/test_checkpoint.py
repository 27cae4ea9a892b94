"""A checkpoint is continued only when log and results agree with it."""

from __future__ import annotations

import json

import pytest

from aspen.spark.checkpoint import (
    Checkpoint,
    LogEnds,
    format_of,
    prepare_checkpoint,
    read_checkpoint,
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
    assert prepare_checkpoint(tmp_path / "cp", 1, LogEnds("L", 5), ("x", 7)) == ""
    assert (tmp_path / "cp" / "format").read_text() == format_of(1)


def test_one_of_use_is_kept(tmp_path):
    write(tmp_path / "cp")
    assert prepare_checkpoint(tmp_path / "cp", 1, LogEnds("L", 9), ("g", 10)) == ""
    assert (tmp_path / "cp" / "offsets" / "10").exists()


def test_one_of_no_use_is_dropped(tmp_path):
    write(tmp_path / "cp")
    assert "another log" in prepare_checkpoint(tmp_path / "cp", 1, LogEnds("M", 9), ("g", 10))
    assert not (tmp_path / "cp" / "offsets").exists()


@pytest.mark.parametrize("offset", ["", "-", "{", '{"log": "L"}'])
def test_a_torn_one_is_dropped(tmp_path, offset):
    write(tmp_path / "cp", offset)
    assert "cannot be read" in prepare_checkpoint(tmp_path / "cp", 1, LogEnds("L", 9), ("g", 10))
