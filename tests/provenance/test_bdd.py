"""Bdd: one class of tests for every backend."""

from __future__ import annotations

import pytest
from dd import autoref, cudd
from hypothesis import given, settings
from hypothesis import strategies as st

from aspen.provenance.bdd import Bdd

terms = st.lists(st.frozensets(st.integers(0, 5), max_size=4), max_size=6)


@pytest.fixture(params=[cudd, autoref], ids=["cudd", "autoref"], scope="class")
def backend(request):
    return request.param


def build(bdd: Bdd, variables: list[int], sums) -> object:
    function = bdd.false
    for term in sums:
        product = bdd.true
        for place in term:
            product = bdd.conjoin(product, bdd.literal(variables[place]))
        function = bdd.disjoin(function, product)
    return function


class TestBdd:
    @settings(deadline=None)
    @given(terms)
    def test_equal_functions_are_equal_objects(self, backend, sums) -> None:
        bdd = Bdd(backend)
        variables = [bdd.allocate() for _ in range(6)]
        assert build(bdd, variables, sums) == build(bdd, variables, reversed(sums))

    @settings(deadline=None)
    @given(terms, terms)
    def test_absorption(self, backend, one, other) -> None:
        bdd = Bdd(backend)
        variables = [bdd.allocate() for _ in range(6)]
        left, right = build(bdd, variables, one), build(bdd, variables, other)
        assert bdd.disjoin(left, bdd.conjoin(left, right)) == left
        assert bdd.conjoin(left, bdd.disjoin(left, right)) == left

    @settings(deadline=None)
    @given(terms, st.frozensets(st.integers(0, 5)))
    def test_oracle_without_drops_the_terms_that_used_a_dead_variable(
        self, backend, sums, dead
    ) -> None:
        bdd = Bdd(backend)
        variables = [bdd.allocate() for _ in range(6)]
        restricted = bdd.without(build(bdd, variables, sums), [variables[place] for place in dead])
        assert restricted == build(bdd, variables, [term for term in sums if not term & dead])

    @settings(deadline=None)
    @given(terms)
    def test_branches_put_together_again_give_the_function(self, backend, sums) -> None:
        bdd = Bdd(backend)
        variables = [bdd.allocate() for _ in range(6)]
        function = build(bdd, variables, sums)
        if function in (bdd.true, bdd.false):
            assert bdd.support(function) == ()
            return
        variable, absent, present = bdd.branches(function)
        assert variable in bdd.support(function)
        again = bdd.disjoin(absent, bdd.conjoin(bdd.literal(variable), present))
        assert again == function

    def test_support_leaves_out_what_is_absorbed(self, backend) -> None:
        bdd = Bdd(backend)
        a, b = (bdd.literal(bdd.allocate()) for _ in range(2))
        assert bdd.support(bdd.disjoin(a, bdd.conjoin(a, b))) == bdd.support(a) == (0,)

    def test_released_variables_are_used_again(self, backend) -> None:
        bdd = Bdd(backend)
        first, second = bdd.allocate(), bdd.allocate()
        bdd.release(first)
        assert bdd.live_variables() == 1
        assert bdd.allocate() == first
        assert bdd.allocate() not in (first, second)

    def test_nodes_go_when_functions_go(self, backend) -> None:
        bdd = Bdd(backend)
        variables = [bdd.allocate() for _ in range(8)]
        baseline = bdd.live_nodes()
        function = build(bdd, variables, [{0, 1, 2, 3, 4, 5, 6, 7}])
        assert bdd.live_nodes() > baseline
        del function
        assert bdd.live_nodes() == baseline

    def test_a_product_with_a_new_variable_makes_one_node(self, backend) -> None:
        bdd = Bdd(backend)
        product = bdd.true
        for length in range(1, 30):
            product = bdd.conjoin(product, bdd.literal(bdd.allocate()))
            assert len(bdd.support(product)) == length
