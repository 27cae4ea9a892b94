"""Filter: the laws of the operator by itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from views.operators.laws import check, histories, quick, shuffles

from aspen.views.operators.filter import FilterOperator

QUERIES = {
    "comparison": "SELECT i.k FROM item i WHERE i.x > 1",
    "null": "SELECT i.k, i.g FROM item i WHERE i.g IS NULL OR i.x = 2",
}


@pytest.mark.parametrize("case", sorted(QUERIES))
@quick
@given(states=histories("item"), random=shuffles)
def test_laws(case, states, random) -> None:
    check(FilterOperator, QUERIES[case], states, random)
