"""Why: minimal sets and single points of failure, against enumeration of all subsets."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aspen.provenance.bdd import Bdd
from aspen.provenance.why import MAX_SETS, TooManyReasons, minimal_sets, necessary

sums = st.lists(st.frozensets(st.integers(0, 5), max_size=4), max_size=7)


def function_of(bdd: Bdd, terms) -> object:
    variables = [bdd.allocate() for _ in range(6)]
    assert variables == list(range(6))
    function = bdd.false
    for term in terms:
        product = bdd.true
        for variable in term:
            product = bdd.conjoin(product, bdd.literal(variable))
        function = bdd.disjoin(function, product)
    return function


@settings(deadline=None)
@given(sums)
def test_oracle_minimal_sets(terms) -> None:
    bdd = Bdd()
    found = minimal_sets(bdd, function_of(bdd, terms))
    holds = [
        frozenset(chosen)
        for size in range(7)
        for chosen in combinations(range(6), size)
        if any(term <= frozenset(chosen) for term in terms)
    ]
    least = [one for one in holds if not any(other < one for other in holds)]
    assert sorted(map(sorted, found)) == sorted(map(sorted, least))
    assert [len(members) for members in found] == sorted(len(members) for members in found)


@settings(deadline=None)
@given(sums)
def test_necessary_is_what_every_set_has(terms) -> None:
    bdd = Bdd()
    function = function_of(bdd, terms)
    sets = minimal_sets(bdd, function)
    common = frozenset.intersection(*sets) if sets else frozenset()
    assert necessary(bdd, function) == common


def test_too_many_reasons_are_refused_not_listed() -> None:
    bdd = Bdd()
    function = bdd.true
    for _ in range(MAX_SETS.bit_length()):
        either = bdd.disjoin(bdd.literal(bdd.allocate()), bdd.literal(bdd.allocate()))
        function = bdd.conjoin(function, either)
    with pytest.raises(TooManyReasons):
        minimal_sets(bdd, function)
