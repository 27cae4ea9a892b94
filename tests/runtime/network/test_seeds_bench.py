"""`manage.py bench seeds`: one shape for every figure, means with intervals."""

from __future__ import annotations

import json
import math

import pytest

seeds = pytest.importorskip("smartcis.bench.seeds")

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


def test_gives_one_object_with_means_and_intervals(small):
    result = json.loads(json.dumps(seeds.run(quick=True, say=lambda _line: None, figure="14")))
    assert result["bench"] == "seeds"
    lazy = result["figures"]["14"]["delete"]["absorption-lazy"]
    assert lazy.keys() == METRICS
    assert all(math.isfinite(lazy[name][part]) for name in METRICS for part in ("mean", "ci95"))
    assert (
        lazy["kilobytes"]["mean"] < result["figures"]["14"]["delete"]["dred"]["kilobytes"]["mean"]
    )


def test_lazy_deletion_keeps_its_distance():
    """The bytes do not depend on the machine: this is the bench's target, on few networks."""
    scale = seeds.Scale(runs=3, budget_s=60.0, deletions=10)
    kilobytes = {
        strategy: sum(seeds._deleted(strategy, seed, scale)["kilobytes"] for seed in range(3))
        for strategy in ("absorption-lazy", "relative", "dred")
    }
    assert kilobytes["dred"] >= 10 * kilobytes["absorption-lazy"]
    assert kilobytes["relative"] >= 2 * kilobytes["absorption-lazy"]


def test_what_does_not_end_says_so():
    scale = seeds.Scale(runs=2, budget_s=0.1, deletions=1)
    found = seeds._interval(
        scale, lambda seed: seeds._inserted("absorption-eager", seed, scale=scale)
    )
    assert found == {"did_not_converge_within_cpu_s": 0.1}
