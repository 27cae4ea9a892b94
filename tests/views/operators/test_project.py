"""Project: the laws of the operator by itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from views.operators.laws import check, histories, quick, shuffles

from aspen.views.operators.project import ProjectOperator

QUERIES = {
    "computed": "SELECT i.k + 1 AS y FROM item i",
    "fewer": "SELECT i.g FROM item i",
    "null": "SELECT i.x * i.f AS y, i.k FROM item i",
}


@pytest.mark.parametrize("case", sorted(QUERIES))
@quick
@given(states=histories("item"), random=shuffles)
def test_laws(case, states, random) -> None:
    check(ProjectOperator, QUERIES[case], states, random)
