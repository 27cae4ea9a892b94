"""Products: a join that nothing ties is found, and one that is meant is not."""

from __future__ import annotations

import pytest

from aspen.model.catalog import Catalog
from aspen.model.schema import Column, Relation, Type
from aspen.streamsql import compile_query
from aspen.views.products import products
from federation.statistics import Statistics


def table(name, *columns):
    return Relation(name, tuple(Column(column, Type.TEXT) for column in columns), key=columns[:1])


CATALOG = Catalog.of(
    [
        table("machine", "mid", "rid"),
        table("room", "rid", "name"),
        table("sensor", "sid", "rid"),
        table("clock", "now"),
    ]
)
KNOWN = Statistics(counts={"machine": 300.0, "room": 90.0, "sensor": 800.0, "clock": 1.0})


def found(sql):
    plan = compile_query(sql, CATALOG).plan
    return [
        ([{scan.alias for scan in side} for side in one.sides], one.rows)
        for one in products(plan, CATALOG, KNOWN)
    ]


@pytest.mark.parametrize(
    ("sql", "sides", "rows"),
    [
        ("SELECT m.mid FROM machine m, room r", [{"m"}, {"r"}], 27_000),
        ("SELECT m.mid FROM machine m CROSS JOIN room r", [{"m"}, {"r"}], 27_000),
        (
            "SELECT m.mid FROM machine m, sensor s, room r WHERE s.rid = r.rid",
            [{"m"}, {"s", "r"}],
            240_000,
        ),
        ("SELECT m.mid FROM machine m LEFT JOIN room r ON m.mid = 'a'", [{"m"}, {"r"}], 27_000),
        (
            """SELECT COUNT(*) AS n FROM machine m, room r WHERE NOT EXISTS
            (SELECT 1 FROM sensor s WHERE s.sid = m.mid AND s.rid = r.rid)""",
            [{"m"}, {"r"}],
            27_000,
        ),
    ],
)
def test_sides_that_no_condition_names_together_are_told_with_their_rows(sql, sides, rows):
    assert found(sql) == [(sides, rows)]


def test_a_product_inside_a_sub_select_is_found_once():
    inside = "SELECT m.rid, COUNT(*) AS n FROM machine m, room r GROUP BY m.rid"
    ((sides, _),) = found(f"SELECT i.n FROM ({inside}) i JOIN sensor s ON s.rid = i.rid")
    assert sides == [{"m"}, {"r"}]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT m.mid FROM machine m JOIN room r ON r.rid = m.rid",
        "SELECT m.mid FROM machine m, room r WHERE m.rid < r.rid",
        "SELECT m.mid FROM machine m, room r WHERE m.rid = r.rid OR m.mid = r.name",
        "SELECT m.mid FROM machine m, room r, sensor s WHERE m.rid = s.rid AND s.rid = r.rid",
        "SELECT m.mid FROM machine m, room r WHERE r.rid = 'A'",
        "SELECT m.mid, c.now FROM machine m, clock c",
        "SELECT m.mid, t.n FROM machine m, (SELECT COUNT(*) AS n FROM room) t",
        "SELECT m.mid, t.rid FROM machine m, (SELECT rid FROM room ORDER BY rid LIMIT 1) t",
        "SELECT m.mid, (SELECT MAX(r.name) FROM room r) AS last FROM machine m",
        "SELECT m.mid FROM machine m WHERE EXISTS (SELECT 1 FROM room)",
        "SELECT m.mid, v.k FROM machine m, (VALUES ('a'), ('b')) v(k)",
    ],
)
def test_what_is_tied_or_has_one_row_is_no_product(sql):
    assert found(sql) == []
