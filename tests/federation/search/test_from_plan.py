"""From plans to problems, and EXPLAIN's and-or graph."""

from __future__ import annotations

from dataclasses import replace

import pytest
from federation_support.explaining import explain
from golden.catalog import CATALOG

from aspen.algebra.plan import Join, children
from aspen.algebra.read import read_plan
from aspen.algebra.rewrite import rewrite
from aspen.streamsql import compile_query
from federation.cost import Cost, Weights
from federation.search import Access, JoinSpace, NoPlan, bottom_up
from federation.search.from_plan import group_of, problem_of
from federation.search.graph import graph_of
from federation.statistics import Statistics

NEWEST = "[PARTITION BY mid ROWS 1]"
DESKS = f"""
SELECT s.mid, l.lux FROM seat_reading s {NEWEST}, machine m, light_reading l [RANGE 30 SECONDS]
WHERE s.mid = m.mid AND m.rid = l.rid AND s.at_s > l.at_s
"""
ROOMS = """
SELECT l.rid, t.celsius FROM light_reading l [PARTITION BY sid ROWS 1], room r,
  temperature_reading t [PARTITION BY sid ROWS 1]
WHERE l.rid = t.rid AND l.lux < 10.0 AND r.rid = l.rid
"""
COUNTS = {"machine": 54.0, "seat_reading": 54.0}
SENT = tuple(Access(f"{alias} sent", (alias,), Cost(1.0, 1.0)) for alias in "sl")


def group(text: str):
    node = rewrite(compile_query(text, CATALOG).plan)
    while not isinstance(node, Join):
        (node,) = children(node)
    return group_of(node)


def found(text: str, statistics: Statistics | None = None, accesses=SENT):
    known = statistics or Statistics.of(CATALOG)
    return problem_of(group(text), known, Weights(), accesses)


def test_relations_are_at_home_where_they_are_measured():
    query = found(DESKS, Statistics({"seat_reading": 2.0, "light_reading": 4.0}, counts=COUNTS))
    members = {one.alias: one for one in query.members}
    assert {alias: one.comes for alias, one in members.items()} == {
        "s": True,
        "m": False,
        "l": True,
    }
    assert (members["s"].rows, members["s"].rate_hz) == (54.0, 2.0)
    assert (members["l"].rows, members["l"].rate_hz) == (120.0, 4.0)
    assert (members["m"].rows, members["m"].rate_hz) == (54.0, 0.0)


def test_predicates_become_classes_of_columns_and_other_edges():
    query = found(DESKS)
    assert set(group(DESKS).equal_columns) == {("s.mid", "m.mid"), ("m.rid", "l.rid")}
    assert set(query.classes) == {frozenset("ms"), frozenset("lm")}
    assert [{one.left, one.right} for one in query.thetas] == [{"l", "s"}]


def test_a_self_join_over_a_view_of_joins_keeps_its_relations_apart():
    query = found(
        """
        SELECT a.sid, c.sid FROM near_sensor a, near_sensor b, near_sensor c
        WHERE a.other = b.sid AND b.other = c.sid
        """,
        accesses=(),
    )
    assert {one.alias for one in query.members} == {"a", "b", "c"}
    assert set(query.classes) == {frozenset("ab"), frozenset("bc")}


def test_parts_that_cannot_be_told_by_a_prefix_have_names_of_their_own():
    some = "Project {0}x INT = {1}.a, {0}y INT = {1}.b\n    Scan t as {1} ({1}.a INT, {1}.b INT)"
    one = some.format("q.", "u")
    for other, alias in (
        ("Scan t as q (q.a INT, q.b INT)", "part2_"),
        (some.format("", "v"), "part2_"),
    ):
        found = group_of(read_plan(f"Join\n  {one}\n  {other}\n"))
        assert list(found.parts) == ["q", alias]
        assert list(found.owner.values()) == ["q", "q", alias, alias]


def test_a_stream_comes_by_its_accesses_alone():
    space = JoinSpace(found(DESKS))
    fetched = [line for line in bottom_up(space).lines() if "fetch" in line]
    assert len(fetched) == 2
    lost = replace(found(DESKS), accesses=SENT[:1])
    with pytest.raises(NoPlan):
        bottom_up(JoinSpace(lost))


def test_an_access_of_two_relations_takes_the_place_of_their_join():
    both = Access("s and l together", ("l", "s"), Cost(0.5, 0.5))
    answer = bottom_up(JoinSpace(found(DESKS, accesses=(*SENT, both))))
    assert "s and l together" in answer.text
    dear = Access("s and l together", ("l", "s"), Cost(9.0, 9.0))
    answer = bottom_up(JoinSpace(found(DESKS, accesses=(*SENT, dear))))
    assert "s and l together" not in answer.text


def test_explain_prints_the_winner_and_why_the_others_lost():
    text = explain(ROOMS, CATALOG)
    assert "advice" not in text
    assert (
        text.index("── 5 optimize")
        < text.index("how l and t reach the engine")
        < text.index("── 6 split")
    )
    lines = graph_of(JoinSpace(found(DESKS))).text.splitlines()
    assert lines[0].startswith("joins: ")
    nodes = [line for line in lines[1:] if not line.startswith("    ")]
    ways = [line for line in lines[1:] if line.startswith("    ")]
    assert sum(line.endswith("; chosen") for line in ways) == len(nodes)
    assert all(line.endswith("; chosen") or "lost: " in line for line in ways)
