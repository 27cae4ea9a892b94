"""PipelinedHashJoin: the laws of the operator by itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from views.operators.laws import check, histories, quick, shuffles

from aspen.views.operators.pipelined_hash_join import PipelinedHashJoin

QUERIES = {
    "equi": "SELECT i.k, i.g, p.v FROM item i JOIN pair p ON p.k = i.k",
    "equi_residual": "SELECT i.k, p.v FROM item i JOIN pair p ON p.k = i.k AND p.v <> i.x",
    "two_columns": "SELECT i.k, i.g FROM item i JOIN pair p ON p.k = i.k AND p.v = i.x",
    "theta": "SELECT i.k, p.v FROM item i JOIN pair p ON p.v < i.x",
    "itself": "SELECT a.k, b.v FROM pair a JOIN pair b ON b.k = a.v",
}


@pytest.mark.parametrize("case", sorted(QUERIES))
@quick
@given(states=histories("item", "pair"), random=shuffles)
def test_laws(case, states, random) -> None:
    check(PipelinedHashJoin, QUERIES[case], states, random)
