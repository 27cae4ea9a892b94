"""Compiling whole texts: results' columns, order of views, what is refused."""

from __future__ import annotations

import pytest
from golden.catalog import CATALOG
from hypothesis import given, settings
from hypothesis import strategies as st

from aspen.algebra.explain import plan_text
from aspen.algebra.plan import Scan, Window, children
from aspen.algebra.read import read_plan
from aspen.errors import AspenError
from aspen.model.schema import Column, SourceKind, Type
from aspen.streamsql import compile_query, compile_views, parse
from aspen.streamsql.errors import SyntaxRefused, UnknownColumn, ViewCycle

WALK = """CREATE VIEW walking_cost AS
WITH RECURSIVE walk(origin, step_free, node, cost_mm) AS (
    SELECT r.node, r.step_free, r.node, 0 FROM route_request r
  UNION
    SELECT w.origin, w.step_free, p.dst, MIN(w.cost_mm + p.length_mm)
    FROM walk w JOIN passable p ON p.src = w.node
    WHERE NOT w.step_free OR p.step_free
    GROUP BY w.origin, w.step_free, p.dst
) SELECT origin, step_free, node, cost_mm FROM walk;"""


def windows(plan):
    own = [plan] if isinstance(plan, Window) else []
    return own + [found for child in children(plan) for found in windows(child)]


def test_a_view_has_a_name_columns_and_sources():
    compiled = compile_query(WALK, CATALOG)
    assert compiled.name == "walking_cost"
    assert compiled.relation.kind is SourceKind.VIEW
    assert compiled.relation.key == ()
    assert compiled.relation.columns == (
        Column("origin", Type.INT),
        Column("step_free", Type.BOOL),
        Column("node", Type.INT),
        Column("cost_mm", Type.INT),
    )
    assert compiled.sources == {"route_request", "passable"}
    assert read_plan(plan_text(compiled.plan)) == compiled.plan


def test_a_bare_query_has_no_name():
    assert compile_query("SELECT rid FROM room", CATALOG).name is None


def test_units_and_nulls_reach_the_result():
    compiled = compile_query(
        "SELECT s.mid, s.weight_kg * 2 AS twice, MAX(s.at_s) AS last, e.door_id"
        " FROM seat_reading s [ROWS 1], routing_edge e GROUP BY s.mid, s.weight_kg * 2, e.door_id",
        CATALOG,
    )
    assert compiled.relation.columns == (
        Column("mid", Type.TEXT),
        Column("twice", Type.FLOAT),
        Column("last", Type.FLOAT, "s"),
        Column("door_id", Type.TEXT, "", True),
    )


@pytest.mark.parametrize(
    ("text", "by", "rows", "range_s"),
    [
        ("[RANGE 30 SECONDS]", (), None, 30),
        ("[RANGE 1 SECOND]", (), None, 1),
        ("[RANGE 2 MINUTES]", (), None, 120),
        ("[RANGE 1.5 HOURS]", (), None, 5400),
        ("[range 2 days]", (), None, 172_800),
        ("[ROWS 7]", (), 7, None),
        ("[PARTITION BY mid, s.sid ROWS 2]", ("s.mid", "s.sid"), 2, None),
        ("[PARTITION BY mid ROWS 1 RANGE 120 SECONDS]", ("s.mid",), 1, 120),
    ],
)
@pytest.mark.parametrize(
    "shape", ["seat_reading {} s", "seat_reading s {}", "seat_reading {} AS s"]
)
def test_windows(shape, text, by, rows, range_s):
    compiled = compile_query(f"SELECT mid FROM {shape.format(text)}", CATALOG)
    (window,) = windows(compiled.plan)
    assert (window.partition_by, window.rows, window.range_s) == (by, rows, range_s)
    assert isinstance(window.child, Scan)
    assert window.child.stream


def test_views_come_behind_what_they_read_whatever_the_order_given():
    texts = {
        "c.streamsql": "CREATE VIEW c AS SELECT rid FROM b WHERE rid IN (SELECT rid FROM a)",
        "b.streamsql": "CREATE VIEW b AS SELECT rid FROM a",
        "a.streamsql": "CREATE VIEW a AS SELECT rid FROM room",
    }
    assert [compiled.name for compiled in compile_views(texts, CATALOG)] == ["a", "b", "c"]


def test_a_cycle_of_views_is_named():
    texts = {
        "a": "CREATE VIEW a AS SELECT rid FROM room WHERE NOT EXISTS (SELECT 1 FROM c)",
        "b": "CREATE VIEW b AS SELECT rid FROM a",
        "c": "CREATE VIEW c AS SELECT rid FROM b",
    }
    with pytest.raises(ViewCycle) as caught:
        compile_views(texts, CATALOG)
    assert caught.value.found == "a → c → b → a"


def test_an_error_in_a_file_names_the_file():
    with pytest.raises(UnknownColumn) as caught:
        compile_views({"bad.streamsql": "CREATE VIEW a AS SELECT x FROM room"}, CATALOG)
    assert caught.value.__notes__ == ["in bad.streamsql"]


@pytest.mark.parametrize(
    "text", ["SELECT rid FROM room", "CREATE VIEW a AS SELECT rid FROM room;" * 2]
)
def test_standing_texts_are_views_each_once(text):
    with pytest.raises(SyntaxRefused):
        compile_views({"a": text}, CATALOG)


def test_a_text_too_long_is_refused_before_it_is_read():
    with pytest.raises(SyntaxRefused):
        parse("SELECT mid FROM machine -- " + "x" * 100_000)


def refusal(text):
    """Returns the error a text is refused with, None when it compiles; anything else escapes."""
    try:
        compile_query(text, CATALOG)
    except AspenError as error:
        return error
    return None


WORDS = [
    "SELECT", "FROM", "WHERE", "machine", "m", "mid", "m.mid", "seat_reading", "[", "]", "ROWS",
    "RANGE", "PARTITION BY", "1", "30", "SECONDS", ",", "(", ")", "*", "AND", "NOT", "EXISTS", "=",
    "<", "'x'", "'", "COUNT", "MIN", "GROUP BY", "HAVING", "WITH RECURSIVE", "AS", "UNION", "ALL",
    "CREATE VIEW", "v", ";", "IN", "BETWEEN", "NULL", "CASE WHEN", "THEN", "END", "--", "\n", "-",
    "JOIN", "ON", "°", "\x00", ".", "::", "{", "?", "@",
]  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join) | st.text(max_size=30))
def test_any_text_compiles_or_is_refused_with_a_position_inside_it(text):
    error = refusal(text)
    if error is not None and error.position is not None:
        lines = text.split("\n")
        assert 1 <= error.position.line <= len(lines)
        assert error.position.column <= len(lines[error.position.line - 1]) + 1
        assert error.render(text).startswith(error.code)


QUERIES = st.sampled_from(
    [
        WALK,
        "SELECT m.mid FROM machine m, seat_reading [PARTITION BY mid ROWS 1] s WHERE s.mid = m.mid",
        "SELECT rid, COUNT(*) AS n FROM machine GROUP BY rid HAVING COUNT(*) > 2",
        "SELECT m.rid FROM machine m WHERE NOT EXISTS (SELECT 1 FROM room r WHERE r.rid = m.rid)",
    ]
)


@settings(max_examples=300, deadline=None)
@given(QUERIES, st.data())
def test_a_query_with_a_word_lost_or_doubled_compiles_or_is_refused(text, draw):
    words = text.split(" ")
    place = draw.draw(st.integers(0, len(words) - 1))
    change = draw.draw(st.sampled_from([[], [words[place]] * 2, ["zzz"]]))
    broken = " ".join(words[:place] + change + words[place + 1 :])
    error = refusal(broken)
    assert error is None or error.code.startswith(("aspen.parse", "aspen.bind"))
