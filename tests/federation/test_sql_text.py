"""What a site runs, as StreamSQL: compiled again it is the same query."""

from __future__ import annotations

import pytest
from federation_support.building import CATALOG, EXAMPLE_14, KNOWN, planned, queries, samples
from hypothesis import HealthCheck, given, settings

from aspen.algebra.plan import Scan
from federation.cost import Weights
from federation.placement import assign_sites
from federation.split import split
from federation.sql_text import NoText, sql_text
from tests.oracle import evaluate

law = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@law
@given(queries(), samples())
def test_oracle_the_text_has_the_rows_of_its_plan(text, tables):
    plan = planned(text)
    assert evaluate(planned(sql_text(plan)), tables) == evaluate(plan, tables)


@law
@given(queries(), samples())
def test_oracle_the_texts_of_all_sites_together_are_the_query(text, tables):
    plan = planned(text)
    fragments = split(assign_sites(plan, CATALOG, KNOWN))
    catalog, known = CATALOG, dict(tables)
    for one in fragments.network:
        known[one.name] = evaluate(planned(sql_text(one.replaces)), tables)
        catalog = catalog.with_relation(one.relation)
    whole = planned(sql_text(fragments.engine.plan), catalog)
    assert evaluate(whole, known) == evaluate(plan, tables)


def test_example_14_reads_as_the_seeds_print_it():
    fragments = split(assign_sites(planned(EXAMPLE_14), CATALOG, KNOWN, Weights(0.0, 1.0, 0.0)))
    texts = [sql_text(one.replaces) for one in fragments.network]
    assert all("PARTITION BY sid ROWS 1" in text for text in texts)
    assert "ms.software = 'Word'" in sql_text(fragments.engine.plan)


OTHERS = {
    "absent": """
        SELECT m.mid FROM machine m WHERE NOT EXISTS
          (SELECT 1 FROM machine_software s WHERE s.mid = m.mid AND s.software <> 'it''s')
    """,
    "distinct": """
        SELECT DISTINCT m.rid FROM machine m
        WHERE m.mid = 'm1' AND (m.rid = 'R0' OR m.rid IS NULL)
    """,
    "union": "SELECT m.mid FROM machine m UNION ALL SELECT s.mid FROM machine_software s",
    "having": """
        SELECT n.k FROM (SELECT m.rid AS k, COUNT(*) AS n FROM machine m GROUP BY m.rid) n
        WHERE n.n > 1 AND CASE WHEN n.n > 2 THEN TRUE ELSE n.n < 3 END
    """,
    "computed": "SELECT m.rid, COUNT(*) + 1 AS n FROM machine m GROUP BY m.rid",
    "computed of all": "SELECT COUNT(*) + 1 AS n, 1 AS one FROM machine m",
    "computed above": """
        SELECT n.n + 1 AS n FROM (SELECT COUNT(*) + 1 AS n FROM machine m GROUP BY m.rid) n
    """,
    "twice": "SELECT a.mid FROM machine a, machine b WHERE a.rid = b.rid AND NOT a.mid = b.mid",
}


@pytest.mark.parametrize("text", OTHERS.values(), ids=OTHERS)
def test_other_plans_read_back_too(text):
    tables = {
        "machine": {("m1", "R0"): 1, ("m2", "R0"): 1, ("m3", "R1"): 1},
        "machine_software": {("m1", "Word"): 1, ("m2", "it's"): 2},
    }
    plan = planned(text)
    assert evaluate(plan, tables)
    assert evaluate(planned(sql_text(plan)), tables) == evaluate(plan, tables)


def test_a_plan_without_words_says_so():
    plan = planned("SELECT m.mid FROM machine m ORDER BY m.mid LIMIT 1")
    with pytest.raises(NoText):
        sql_text(plan)
    assert sql_text(Scan("machine", "machine", ())).startswith("SELECT 1")
