"""GroupBy: the laws of the operator by itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from views.operators.laws import check, histories, quick, shuffles

from aspen.views.operators.group_by import GroupByOperator

QUERIES = {
    "count_rows": "SELECT i.g, COUNT(*) AS n FROM item i GROUP BY i.g",
    "count": "SELECT i.g, COUNT(i.x) AS n FROM item i GROUP BY i.g",
    "count_distinct": "SELECT i.g, COUNT(DISTINCT i.x) AS n FROM item i GROUP BY i.g",
    "sum": "SELECT i.g, SUM(i.x) AS s FROM item i GROUP BY i.g",
    "sum_of_floats": "SELECT i.g, SUM(i.f) AS s FROM item i GROUP BY i.g",
    "min": "SELECT i.g, MIN(i.x) AS lo FROM item i GROUP BY i.g",
    "max": "SELECT i.g, MAX(i.f) AS hi FROM item i GROUP BY i.g",
    "avg": "SELECT i.g, AVG(i.f) AS a FROM item i GROUP BY i.g",
    "whole": "SELECT COUNT(*) AS n, SUM(i.f) AS s, MIN(i.x) AS lo FROM item i",
    "having": "SELECT i.g, COUNT(*) AS n FROM item i GROUP BY i.g HAVING COUNT(*) > 1",
}


@pytest.mark.parametrize("case", sorted(QUERIES))
@quick
@given(states=histories("item"), random=shuffles)
def test_laws(case, states, random) -> None:
    check(GroupByOperator, QUERIES[case], states, random)
