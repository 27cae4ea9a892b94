"""AntiJoin: the laws of the operator by itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from views.operators.laws import check, histories, quick, shuffles

from aspen.views.operators.anti_join import AntiJoinOperator

QUERIES = {
    "equi": """SELECT i.k, i.g FROM item i
        WHERE NOT EXISTS (SELECT 1 FROM pair p WHERE p.k = i.k)""",
    "residual": """SELECT i.k, i.x FROM item i
        WHERE NOT EXISTS (SELECT 1 FROM pair p WHERE p.k = i.k AND p.v > i.x)""",
    "theta": """SELECT i.k, i.x FROM item i
        WHERE NOT EXISTS (SELECT 1 FROM pair p WHERE p.v > i.x)""",
    "itself": "SELECT a.k, a.v FROM pair a WHERE NOT EXISTS (SELECT 1 FROM pair b WHERE b.k = a.v)",
}


@pytest.mark.parametrize("case", sorted(QUERIES))
@quick
@given(states=histories("item", "pair"), random=shuffles)
def test_laws(case, states, random) -> None:
    check(AntiJoinOperator, QUERIES[case], states, random)
