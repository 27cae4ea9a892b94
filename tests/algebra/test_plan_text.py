"""Plan text is a language, both ways."""

from __future__ import annotations

import pytest
from algebra.plans import exprs, plans
from hypothesis import given, settings
from hypothesis import strategies as st

from aspen.algebra.explain import expr_text, plan_text
from aspen.algebra.expr import Case, Col, Const, ExprError, Op
from aspen.algebra.plan import Filter, PlanError, Scan, Ship, Window
from aspen.algebra.read import read_plan
from aspen.algebra.read_expr import PlanTextError, Words, read_expr
from aspen.model.schema import Column, Type

odd = st.text(min_size=1, max_size=8) | st.sampled_from(["NULL", "TRUE", "AND", "a.b", "as", "on"])
identifier = st.from_regex(r"[a-zA-Zé_][a-zA-Z0-9_ß]{0,5}(\.[a-z]{1,3})?", fullmatch=True)
columns = st.lists(
    st.builds(Column, identifier, st.sampled_from(Type), st.text(max_size=4), st.booleans()),
    unique_by=lambda column: column.name,
    max_size=4,
).map(tuple)


@settings(max_examples=100, deadline=None)
@given(plans())
def test_read_plan_reads_what_plan_text_prints(plan):
    assert read_plan(plan_text(plan)) == plan


@settings(max_examples=80, deadline=None)
@given(st.builds(Scan, odd, odd, columns, st.booleans(), st.booleans()), odd, odd)
def test_odd_names_units_and_marks_survive(scan, source, target):
    plan = Ship(scan, source, target)
    assert read_plan(plan_text(plan)) == plan


@settings(max_examples=100, deadline=None)
@given(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False),
        st.text(max_size=10),
    )
)
def test_constants_keep_value_and_type(value):
    again = read_expr(Words(expr_text(Const(value)), 1))
    assert again == Const(value)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(list(Type)).flatmap(lambda kind: exprs((), kind, 4)))
def test_expressions_keep_their_tree(expr):
    assert read_expr(Words(expr_text(expr), 1)) == expr


def test_whole_and_real_numbers_are_told_apart():
    assert Const(1) != Const(1.0)
    assert Const(1) != Const(True)
    assert expr_text(Const(1.0)) == "1.0"


def test_a_case_without_branches_is_its_else():
    case = Case((), Col("a"))
    assert read_expr(Words(expr_text(case), 1)) == case


def test_blank_lines_and_comments_are_skipped():
    text = "# a plan\n\nDistinct\n  # its input\n  Scan t as t (t.a INT)\n"
    assert plan_text(read_plan(text)) == "Distinct\n  Scan t as t (t.a INT)\n"


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("", 1, 1),
        ("Nonsense x", 1, 1),
        ("Distinct", 1, 9),
        ("Distinct\n   Scan t as t (a INT)", 2, 4),
        ("Distinct\n    Scan t as t (a INT)", 2, 5),
        ("Scan t as t (a INTEGER)", 1, 16),
        ("Scan t as t (a INT) frozen", 1, 21),
        ("Filter a < \n  Scan t as t (a INT)", 1, 11),
        ("Filter a ~ 1\n  Scan t as t (a INT)", 1, 10),
        ("GroupBy give n INT = MEDIAN(a)\n  Scan t as t (a INT)", 1, 22),
        ("Scan t as t (a INT)\nScan t as t (a INT)", 2, 1),
    ],
)
def test_what_is_no_plan_is_refused_where_it_goes_wrong(text, line, column):
    with pytest.raises(PlanTextError) as caught:
        read_plan(text)
    assert (caught.value.position.line, caught.value.position.column) == (line, column)


def test_nodes_refuse_columns_their_inputs_lack():
    scan = Scan("t", "t", (Column("t.a", Type.INT),))
    with pytest.raises(PlanError) as caught:
        Filter(scan, Op("=", Col("t.b"), Const(1)))
    assert caught.value.exists == ("t.a",)
    with pytest.raises(PlanError) as caught:
        read_plan("Filter t.b = 1\n  Scan t as t (t.a INT)")
    assert caught.value.position.line == 1
    with pytest.raises(PlanError):
        Window(scan, (), None, None)


def test_operators_are_few():
    with pytest.raises(ExprError):
        Op("LIKE", Const("a"), Const("b"))
