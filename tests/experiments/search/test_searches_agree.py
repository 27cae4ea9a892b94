"""Rules, bottom-up and top-down find the same, and nothing cheaper exists."""

from __future__ import annotations

from functools import cache
from random import Random

import pytest
from search_support.exhaustive import all_costs
from search_support.federated import FederatedSpace
from search_support.problem import Problem
from search_support.problems import SHAPES, problem

from federation.search import NoPlan, bottom_up
from federation.search.space import PlanTree
from tests.experiments.search.by_rules import RuleSearch
from tests.experiments.search.top_down import top_down

SIZES = (2, 3, 4, 5, 6, 7)


def by_rules(space: FederatedSpace) -> PlanTree:
    """Search by rules in a lane that has answered other queries before."""
    search = lane()
    search.absorb(space)
    return search.answer()


@cache
def lane() -> RuleSearch:
    return RuleSearch(FederatedSpace(problem(Random(0), 2)))


def agreed(query: Problem) -> int | None:
    """Search in all three ways; None if all say that there is no plan."""
    searches = (bottom_up, top_down, by_rules)
    answers = []
    for search in searches:
        try:
            answers.append(search(FederatedSpace(query)))
        except NoPlan:
            answers.append(None)
    first, *others = answers
    for other in others:
        assert (other is None) == (first is None)
        if first is not None and other is not None:
            assert other == first
    return None if first is None else first.cost


def drawn(seed: int) -> Problem:
    chance = Random(seed)
    size = SIZES[seed % len(SIZES)]
    return problem(chance, size, simple=size > 5)


@pytest.mark.parametrize("block", range(4))
def test_rules_bottom_up_and_top_down_agree(block):
    costs = [
        agreed(problem(Random(seed), 2 + seed % 3)) for seed in range(50 * block, 50 * block + 50)
    ]
    assert sum(cost is not None for cost in costs) > 40


@pytest.mark.nightly
@pytest.mark.parametrize("block", range(24))
def test_two_thousand_four_hundred_queries_of_two_to_seven_relations(block):
    costs = [agreed(drawn(seed)) for seed in range(10_000 + 100 * block, 10_100 + 100 * block)]
    assert sum(cost is not None for cost in costs) > 80


@pytest.mark.parametrize("shape", SHAPES)
def test_shape_of_six(shape):
    assert agreed(problem(Random(6), 6, shape, simple=True)) is not None


@pytest.mark.nightly
@pytest.mark.parametrize("shape", SHAPES)
def test_shape_of_seven(shape):
    assert agreed(problem(Random(7), 7, shape, simple=True)) is not None


def test_oracle_of_every_plan_of_three():
    for seed in range(30):
        query = problem(Random(seed), 1 + seed % 3)
        every = all_costs(query)
        assert agreed(query) == min(every, default=None)


def test_oracle_of_every_plan_of_four():
    for seed in range(6):
        query = problem(Random(seed), 4, SHAPES[seed % 4], simple=True)
        every = all_costs(query)
        assert agreed(query) == min(every, default=None)
