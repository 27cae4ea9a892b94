"""Long chains of joins: rows are computed once for each join, not once for each way to it."""

from __future__ import annotations

import time

import pytest

from aspen.effort import TooComplex, effort
from aspen.model.catalog import Catalog
from aspen.model.schema import Relation, columns_of
from aspen.streamsql import compile_query
from aspen.views.evaluate_once import evaluate_once

T = Relation("t", columns_of("k INT, v INT"))
MOST_S = 10.0
"""Of processor time, on any machine; doubling with each join, 64 of them would never end."""


def _rows(text):
    began = time.process_time()
    plan = compile_query(text, Catalog.of([T])).plan
    found = evaluate_once(plan, [T], {"t": {(1, 10): 1, (2, 20): 1}})
    assert time.process_time() - began < MOST_S
    return found


def test_a_chain_of_64_outer_joins():
    joins = " ".join(f"LEFT JOIN t a{i} ON a{i}.k = a{i - 1}.k + 1" for i in range(1, 64))
    found = _rows(f"SELECT a0.k, a1.v, a2.v AS none, a63.v AS last FROM t a0 {joins}")
    assert found == {(1, 20, None, None): 1, (2, None, None, None): 1}


def test_a_chain_of_64_questions():
    one = "EXISTS (SELECT 1 FROM t b WHERE b.k = a.k + {})"
    asked = " OR ".join(one.format(i) for i in range(1, 65))
    assert _rows(f"SELECT a.k FROM t a WHERE {asked}") == {(1,): 1}


def test_what_is_nested_deeper_than_pythons_stack_is_refused_with_a_reason():
    def deep() -> int:
        return 1 + deep()

    with pytest.raises(TooComplex, match="deeply"), effort():
        deep()
