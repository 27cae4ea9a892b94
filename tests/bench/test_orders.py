"""The bench of variable orders, and the finding it is there for."""

from __future__ import annotations

from tests.bench import orders


def test_depth_first_keeps_why_of_a_ladder_within_its_budget():
    found = orders._asked(orders._shuffled(orders.ladder(12)), pairs=3)
    assert found["arrival"]["within_budget"] < found["depth first"]["within_budget"] == 3


def test_depth_first_makes_kept_diagrams_smaller():
    found = orders._kept(orders._shuffled(orders.ladder(5)))
    assert found["depth first"]["nodes"] < found["arrival"]["nodes"]
