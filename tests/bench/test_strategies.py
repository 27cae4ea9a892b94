"""The strategies' bench: every strategy is measured, and the choice is held against the best."""

from __future__ import annotations

import pytest

from tests.bench import strategies as bench
from tests.bench.report import Target

SMALL = bench.Case(
    "small",
    bench.CHEAPEST,
    tuple((node, (node + step) % 8, 1 + step) for node in range(8) for step in (1, 3)),
    (0, 4),
)


@pytest.mark.parametrize("spelt", bench.SPELT)
def test_every_strategy_can_be_measured(spelt) -> None:
    sample = bench.measure(SMALL, spelt, budget_s=60.0)
    assert sample.rows == 16
    assert sample.deletions == 16
    assert sample.load_ms > 0


def test_a_choice_is_held_against_what_was_measured() -> None:
    # As if retracting were dear, and computing anew dearer still.
    found = {spelt: bench.Sample(deletion_mean_ms=9.0, churn_ms=9.0) for spelt in bench.SPELT}
    found["dred"] = bench.Sample(deletion_mean_ms=3.0, churn_ms=9.0)
    one, half = bench._chosen(SMALL, found)
    assert isinstance(one, Target)
    assert (one.value, one.met) == (3.0, False)
    assert (half.value, half.met) == (1.0, True)


def test_shapes_are_what_their_names_say() -> None:
    dense, tree, grid = bench.cases(quick=True)
    assert len(dense.links) == 200
    assert len(tree.links) == 100
    assert len(grid.links) == 360
    assert len(grid.seeds) == 20
