"""Union: the laws of the operator by itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from views.operators.laws import check, histories, quick, shuffles

from aspen.views.operators.union import UnionOperator

QUERIES = {
    "bags": "SELECT k FROM item UNION ALL SELECT v FROM pair",
    "itself": "SELECT v FROM pair UNION ALL SELECT v FROM pair",
}


@pytest.mark.parametrize("case", sorted(QUERIES))
@quick
@given(states=histories("item", "pair"), random=shuffles)
def test_laws(case, states, random) -> None:
    check(UnionOperator, QUERIES[case], states, random)
