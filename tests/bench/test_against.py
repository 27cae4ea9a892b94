"""A bench side by side with another revision: same numbers, in turns, and which way is worse."""

from __future__ import annotations

import shutil

import pytest

from tests.bench import against
from tests.bench.rig import ROOT


def result(ms: float, served: int, **figures: object) -> dict:
    return {
        "figures": {"epoch": {"p50": ms}, "by": [ms, 2 * ms], "name": "x", "ok": True, **figures},
        "targets": [
            {"name": "epoch", "value": ms, "at_most": True},
            {"name": "served", "value": served, "at_most": False},
        ],
    }


def test_compares_medians_of_what_both_print():
    before = [result(10, 100, gone=1), result(99, 100, gone=1), result(12, 100, gone=1)]
    now = [result(6, 50, new=1), result(6, 50, new=1), result(6, 50, new=1)]
    found = against.compared(before, now)
    assert found["targets"] == {
        "epoch": {"before": 12, "now": 6, "ratio": 0.5},
        "served": {"before": 100, "now": 50, "ratio": 2.0},
    }
    assert found["numbers"].keys() == {"epoch.p50", "by[0]", "by[1]"}
    assert found["numbers"]["by[1]"]["ratio"] == 0.5


def test_nothing_over_nothing_is_the_same_and_something_has_no_ratio():
    assert against._ratio(0, 0, at_most=True)["ratio"] == 1.0
    assert against._ratio(0, 3, at_most=True)["ratio"] is None


@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
def test_runs_both_trees_in_turns(monkeypatch):
    ran = []

    def run(command, folder):
        ran.append((command, folder))
        return '{"figures": {"ms": 2}, "targets": []}' if "manage.py" in command else ""

    monkeypatch.setattr(against, "_run", run)
    monkeypatch.setattr(against, "LINKED", ())
    found = against.run("slope", "v1", rounds=2, quick=True, say=lambda _line: None)
    benches = [folder == ROOT for command, folder in ran if "manage.py" in command]
    assert benches == [False, True, True, False]
    assert ran[0][0][:3] == ["git", "worktree", "add"]
    assert ran[-1][0][:3] == ["git", "worktree", "remove"]
    assert found["figures"]["numbers"] == {"ms": {"before": 2, "now": 2, "ratio": 1.0}}
    assert "1.000" in "\n".join(against.lines(found["figures"]))


def test_an_unknown_revision_is_refused():
    with pytest.raises(against.BenchFailed) as refusal, against.tree_of("no-such-revision"):
        pass
    assert "no-such-revision" in refusal.value.message
