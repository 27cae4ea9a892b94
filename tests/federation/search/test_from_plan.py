"""From plans to problems, and EXPLAIN's and-or graph."""

from __future__ import annotations

from golden.catalog import CATALOG

from aspen.algebra.rewrite import rewrite
from aspen.streamsql import compile_query
from federation.cost import Weights
from federation.explain import explain
from federation.search import FederatedSpace, RuleSearch, bottom_up
from federation.search.from_plan import problems
from federation.search.graph_text import graph_text
from federation.statistics import Statistics

NEWEST = "[PARTITION BY mid ROWS 1]"
DESKS = f"""
SELECT s.mid, l.lux FROM seat_reading s {NEWEST}, machine m, light_reading l [RANGE 30 SECONDS]
WHERE s.mid = m.mid AND m.rid = l.rid AND s.at_s > l.at_s
"""
PAIR = f"SELECT s.mid, m.rid FROM seat_reading s {NEWEST}, machine m WHERE s.mid = m.mid"
COUNTS = {"machine": 54.0, "seat_reading": 54.0}


def found(text: str, statistics: Statistics | None = None):
    plan = rewrite(compile_query(text, CATALOG).plan)
    known = statistics or Statistics.of(CATALOG)
    return list(problems(plan, CATALOG, known, Weights()))


def test_relations_are_at_home_where_they_are_measured():
    (query,) = found(DESKS, Statistics({"seat_reading": 2.0, "light_reading": 4.0}, counts=COUNTS))
    members = {one.alias: one for one in query.members}
    assert {alias: one.home for alias, one in members.items()} == {
        "s": "sensors",
        "m": "engine",
        "l": "sensors",
    }
    assert (members["s"].rows, members["s"].rate_hz) == (54.0, 2.0)
    assert (members["l"].rows, members["l"].rate_hz) == (120.0, 4.0)
    assert (members["m"].rows, members["m"].rate_hz) == (54.0, 0.0)


def test_predicates_become_classes_of_columns_and_other_edges():
    (query,) = found(DESKS)
    pairs = {tuple(sorted((str(one.left), str(one.right)))) for one in query.equalities}
    assert pairs == {("m.mid", "s.mid"), ("l.rid", "m.rid")}
    assert [{one.left, one.right} for one in query.thetas] == [{"l", "s"}]


def test_one_join_leaves_no_choice():
    assert found(PAIR) == []
    assert "join search" not in explain(PAIR, CATALOG)


def test_a_self_join_over_a_view_of_joins_keeps_its_relations_apart():
    (query,) = found("""
        SELECT a.sid, c.sid FROM near_sensor a, near_sensor b, near_sensor c
        WHERE a.other = b.sid AND b.other = c.sid
    """)
    assert {one.alias for one in query.members} == {"a", "b", "c"}
    assert len(query.equalities) == 2


def test_explain_prints_the_winner_and_why_the_others_lost():
    text = explain(DESKS, CATALOG)
    assert "join search over s, m, l" in text
    assert text.index("── 5 optimize") < text.index("join search") < text.index("── 6 split")
    (query,) = found(DESKS)
    answer = bottom_up(FederatedSpace(query))
    lines = graph_text(RuleSearch(FederatedSpace(query))).splitlines()
    assert lines[0].startswith(f"joins: {answer.cost / 1e6:.6f} weighed")
    nodes = [line for line in lines[1:] if not line.startswith("    ")]
    ways = [line for line in lines[1:] if line.startswith("    ")]
    assert sum(line.endswith("; chosen") for line in ways) == len(nodes)
    assert all(line.endswith("; chosen") or "lost: " in line for line in ways)
    assert any(line.endswith(" more") for line in ways)
    assert all(line in text for line in lines)
