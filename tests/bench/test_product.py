"""Product beside product: when an answer counts as read."""

from __future__ import annotations

import json

import pytest

from tests.bench.peers import product


def line(src, diff):
    return json.dumps({"src": src, "dst": src, "diff": diff}) + "\n"


def test_an_answer_is_read_when_the_line_that_ends_its_commit_is_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(product, "PATIENCE_S", 0.05)
    path = tmp_path / "answer.jsonl"
    with path.open("w", encoding="utf-8") as writing, path.open(encoding="utf-8") as reading:
        reader = product._Reader(reading)
        writing.write(line(3, 1) + line(-7, -1) + line(-8, 1)[:9])
        writing.flush()
        with pytest.raises(product.NeverSeen):
            reader.until(8)
        writing.write(line(-8, 1)[9:])
        writing.flush()
        reader.until(8)


def test_ratios_are_ours_over_theirs():
    mine, theirs = ({"deletion_ms": {"p50": p50, "p95": 10.0}} for p50 in (5.0, 20.0))
    assert product._over(mine, theirs) == {"p50": 0.25, "p95": 1.0}
