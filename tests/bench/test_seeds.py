"""`manage.py bench seeds`: one shape for every figure, means with intervals."""

from __future__ import annotations

import json
import math

import pytest

from tests.bench import seeds
from tests.bench.seeds_draw import draw
from tests.bench.seeds_measure import Scale, deleted, inserted
from tests.bench.seeds_runs import Runs

METRICS = {
    "provenance_bytes_per_tuple",
    "kilobytes",
    "kilobytes_per_node",
    "state_kilobytes_per_node",
    "convergence_s",
    "cpu_s",
    "messages",
    "tuples_shipped",
}


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(seeds, "QUICK_BUDGET_S", 0.2)
    monkeypatch.setattr(seeds, "QUICK_RUNS", 2)


def test_gives_one_object_with_means_and_intervals_and_draws_it(small, tmp_path):
    found = seeds.run(quick=True, say=lambda _line: None, figure="14", draw_to=tmp_path)
    result = json.loads(json.dumps(found))
    assert result["bench"] == "seeds"
    points = result["figures"]["14"]["points"]
    lazy = points["absorption-lazy"]["per deletion"]
    assert lazy.keys() == METRICS
    assert all(math.isfinite(lazy[name][part]) for name in METRICS for part in ("mean", "ci95"))
    assert lazy["kilobytes"]["mean"] < points["dred"]["per deletion"]["kilobytes"]["mean"]
    drawn = (tmp_path / "seeds-14.svg").read_text()
    assert all(text in drawn for text in (*points, "shipped per node (kB)", "per deletion"))


def test_lazy_deletion_keeps_its_distance():
    """The bytes do not depend on the machine: this is the bench's target, on few networks."""
    scale = Scale(runs=2, budget_s=60.0, deletions=10)
    kilobytes = {
        strategy: sum(deleted(strategy, seed, scale)["kilobytes"] for seed in range(2))
        for strategy in ("absorption-lazy", "relative", "dred")
    }
    assert kilobytes["dred"] >= 10 * kilobytes["absorption-lazy"]
    assert kilobytes["relative"] >= 2 * kilobytes["absorption-lazy"]


def test_what_does_not_end_says_so():
    runs = Runs(Scale(runs=2, budget_s=0.1, deletions=1))
    assert runs.point(inserted, "absorption-eager", each=True) == {
        "did_not_converge_within_cpu_s": 0.1,
        "runs_tried": 2,
        "runs_converged": 0,
    }


def test_runs_in_processes_count_the_same():
    points = []
    for processes in (1, 2):
        runs = Runs(Scale(runs=2, budget_s=60.0, deletions=1, processes=processes))
        try:
            points.append(runs.point(inserted, "absorption-lazy", density="sparse", transits=2))
        finally:
            runs.close()
    for metric in METRICS - {"convergence_s", "cpu_s"}:
        assert points[0][metric] == points[1][metric]


def test_a_drawn_line_breaks_off_where_no_run_ended(tmp_path):
    ended = {metric: {"mean": 1.0, "ci95": 0.1} for metric in METRICS}
    points = {"dred": {"1": ended, "2": ended}, "relative": {"1": ended, "2": {"runs_tried": 1}}}
    draw(tmp_path / "lines.svg", "title", "links", points)
    assert "relative (1 points over budget)" in (tmp_path / "lines.svg").read_text()
    draw(tmp_path / "bars.svg", "title", "", points)
    assert "over budget" in (tmp_path / "bars.svg").read_text()
