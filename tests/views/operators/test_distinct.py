"""Distinct: the laws of the operator by itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from views.operators.laws import check, histories, quick, shuffles

from aspen.views.operators.distinct import DistinctOperator

QUERIES = {
    "column": "SELECT DISTINCT i.g FROM item i",
    "union": "SELECT k FROM item UNION SELECT v FROM pair",
}


@pytest.mark.parametrize("case", sorted(QUERIES))
@quick
@given(states=histories("item", "pair"), random=shuffles)
def test_laws(case, states, random) -> None:
    check(DistinctOperator, QUERIES[case], states, random)
