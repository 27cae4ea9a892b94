"""What lanes compute of relations they have rows of each add up to the plan over all rows."""

from __future__ import annotations

from dataclasses import replace

import pytest
from algebra.plans import TABLES, data, plans
from algebra.test_partition import recursive
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from aspen.algebra.expr import Const
from aspen.algebra.lane_rows import CrossesLanes, lane_part
from aspen.algebra.plan import AntiJoin, Scan, Values
from aspen.model.delta import accumulate, merge
from aspen.model.schema import Column, Type
from aspen.runtime.own_relations import SYSTEM_NAMES
from aspen.streamsql import compile_query
from smartcis.catalog import CATALOG

OWN = frozenset(("t", "u"))


def by_lane(tables, lanes):
    """Number the rows of OWN by lane in their column a, and give each lane what it has."""
    assert all(TABLES[name][0].name == "a" for name in OWN)
    everything = {name: dict(rows) for name, rows in tables.items()}
    each = [{**everything, **{name: {} for name in OWN}} for _ in range(lanes)]
    for name in OWN:
        everything[name] = {}
        for row, weight in tables[name].items():
            numbered = (row[0] % lanes, *row[1:])
            accumulate(everything[name], numbered, weight)
            accumulate(each[numbered[0]][name], numbered, weight)
    return everything, each


def parts_of(plan, lanes):
    """Returns every lane's part, None where the plan is refused."""
    found = []
    for number in range(lanes):
        try:
            found.append(lane_part(plan, OWN, number, lanes, "a"))
        except CrossesLanes:
            found.append(None)
    assert all(found) or not any(found), "the lanes do not agree"
    return found if all(found) else None


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(plans(3) | recursive(), data(), st.integers(1, 4))
def test_law_what_the_lanes_compute_adds_up(plan, rows, lanes):
    everything, each = by_lane(rows.tables, lanes)
    parts = parts_of(plan, lanes)
    if parts is None:
        event("refused")
        return
    if parts[0].kept is None:
        event("reads no such relation")
        assert all(part.plan == plan for part in parts)
        return
    event("kept" if parts[0].kept else "spread")
    total = {}
    for number, (part, tables) in enumerate(zip(parts, each, strict=True)):
        answer = replace(rows, tables=tables).evaluate(part.plan)
        merge(total, answer)
        names = [column.name for column in plan.columns]
        for column in part.kept:
            lanes_found = {row[names.index(column)] for row in answer}
            assert {n if n in range(lanes) else 0 for n in lanes_found} <= {number}
    assert total == replace(rows, tables=everything).evaluate(plan)


def test_of_one_lane_the_only_part_has_every_row():
    columns = tuple(Column(name, Type.INT) for name in ("w.n", "w.m"))
    rows = ((Const(7), Const(1)), (Const(0), Const(2)))
    left = Values(columns, rows)
    own = Scan("t", "x", tuple(replace(one, name=f"x.{one.name}") for one in TABLES["t"]))
    plan = AntiJoin(left, own, (("w.n", "x.a"),))
    assert parts_of(plan, 1)[0].plan == plan


@pytest.mark.parametrize(
    ("sql", "kept"),
    [
        ("SELECT view, rows, lane FROM sys.queries WHERE state = 'running'", {"lane"}),
        ("SELECT view, rows FROM sys.queries WHERE state = 'running'", set()),
        ("SELECT lane, SUM(rows) AS n FROM sys.operators GROUP BY lane", {"lane"}),
        (
            """SELECT q.view, o.kind, o.lane FROM sys.queries q JOIN sys.operators o
            ON o.view = q.view AND o.lane = q.lane""",
            {"lane"},
        ),
        (
            """SELECT q.view, q.lane FROM sys.queries q WHERE NOT EXISTS
            (SELECT 1 FROM sys.operators o WHERE o.view = q.view AND o.lane = q.lane)""",
            {"lane"},
        ),
        (
            "SELECT q.view, m.mid, q.lane FROM sys.queries q JOIN machine m ON m.mid = q.view",
            {"lane"},
        ),
        ("SELECT lane FROM sys.queries UNION ALL SELECT node FROM machine", {"lane"}),
    ],
)
def test_what_is_computed_in_every_lane(sql, kept):
    part = lane_part(compile_query(sql, CATALOG).plan, SYSTEM_NAMES, 1, 2)
    assert {column.split(".")[-1] for column in part.kept} == kept


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(rows) AS n FROM sys.operators",
        "SELECT kind, COUNT(*) AS n FROM sys.operators GROUP BY kind",
        "SELECT DISTINCT state FROM sys.queries",
        "SELECT view FROM sys.queries ORDER BY rows LIMIT 3",
        "SELECT q.view FROM sys.queries q JOIN sys.operators o ON o.view = q.view",
        """SELECT m.mid FROM machine m WHERE NOT EXISTS
        (SELECT 1 FROM sys.queries q WHERE q.view = m.mid)""",
    ],
)
def test_what_would_need_rows_of_several_lanes_is_refused(sql):
    for number in range(2):
        with pytest.raises(CrossesLanes) as refused:
            lane_part(compile_query(sql, CATALOG).plan, SYSTEM_NAMES, number, 2)
        assert refused.value.code == "aspen.algebra.crosses_lanes"
        assert "lane" in refused.value.attempt
