"""Which recursions are known to end, and that the others have few rows, or end in an error."""

from __future__ import annotations

import pytest
from streamsql.test_differential_duckdb import CATALOG

from aspen.algebra.plan import Fixpoint, nodes
from aspen.errors import AspenError
from aspen.streamsql import compile_query
from aspen.streamsql.bind_recursion import UNPROVED_ROWS
from aspen.views.evaluate_once import evaluate_once

STEP = """WITH RECURSIVE r(n, m) AS (SELECT node, 0 FROM booking
  UNION SELECT {} FROM r JOIN edge e ON e.src = r.n OR e.dst = r.n {}) SELECT n, m FROM r"""

KNOWN = (
    ("CASE WHEN e.src = r.n THEN e.dst ELSE e.src END, 0", ""),
    ("e.dst, coalesce(nullif(r.m, e.len), e.src)", ""),
    ("e.dst, greatest(r.m, e.len)", ""),
    ("e.dst, (r.m + e.len) % 7", ""),
    ("e.dst, abs(least(r.m, e.len))", ""),
    ("e.dst, least(r.m + 1, 9)", ""),
    ("e.dst, r.m + e.len", "WHERE r.m + e.len < 20"),
    ("e.dst, r.m * 2 + 1", "WHERE r.m IN (0, 1, 3)"),
    ("e.dst, r.m * 2 - e.len", "WHERE r.m BETWEEN -20 AND 20"),
    ("e.dst, CASE WHEN r.m > 3 THEN 1 ELSE 2 END", ""),
    ("e.dst, sign(r.m - e.len)", ""),
)
UNKNOWN = (
    ("e.dst, r.m + 1", ""),
    ("e.dst, r.m - e.len", "WHERE r.m < 20"),
    ("e.dst, r.m * 2 - e.len", "WHERE r.m < 20"),
    ("e.dst, CASE WHEN r.m > 3 THEN r.m + 1 ELSE r.m - 1 END", ""),
    ("e.dst, greatest(r.m + 1, 9)", ""),
    ("e.dst, r.m + e.len", "WHERE r.m + e.len > 20"),
)
TABLES = {
    "booking": {("r1", 0): 1, ("r2", 3): 1},
    "edge": {(n, (n + 1) % 5, n + 1): 1 for n in range(5)},
}


def compiled(step, where):
    return compile_query(STEP.format(step, where), CATALOG)


@pytest.mark.parametrize(("step", "where"), KNOWN)
def test_what_makes_no_new_values_for_ever_is_known_to_end(step, where):
    found = compiled(step, where)
    assert not found.unproved
    assert [one.most for one in nodes(found.plan) if isinstance(one, Fixpoint)] == [None]
    rows = evaluate_once(found.plan, CATALOG.relations.values(), TABLES)
    assert 2 <= len(rows) < 1_000  # it did end


@pytest.mark.parametrize(("step", "where"), UNKNOWN)
def test_what_may_go_on_for_ever_has_few_rows(step, where):
    found = compiled(step, where)
    assert [one.found for one in found.unproved] == ["m"]
    assert {o.most for o in nodes(found.plan) if isinstance(o, Fixpoint)} == {UNPROVED_ROWS}


def test_one_that_ends_has_its_rows_and_one_that_does_not_ends_in_an_error():
    tree = {**TABLES, "edge": {(0, 1, 1): 1, (1, 2, 1): 1}, "booking": {("r1", 0): 1}}
    text = """WITH RECURSIVE r(n, m) AS (SELECT node, 0 FROM booking
      UNION SELECT e.dst, r.m + 1 FROM r JOIN edge e ON e.src = r.n) SELECT n, m FROM r"""
    plan = compile_query(text, CATALOG).plan
    relations = CATALOG.relations.values()
    assert evaluate_once(plan, relations, tree) == {(0, 0): 1, (1, 1): 1, (2, 2): 1}
    with pytest.raises(AspenError, match=f"more than {UNPROVED_ROWS} rows"):
        evaluate_once(plan, relations, TABLES)


def test_a_declared_bound_is_no_doubt():
    text = STEP.format("e.dst, r.m + 1", "").replace("RECURSIVE", "RECURSIVE (ERROR AT 50 ROWS)")
    found = compile_query(text, CATALOG)
    assert not found.unproved
    assert {one.most for one in nodes(found.plan) if isinstance(one, Fixpoint)} == {50}
