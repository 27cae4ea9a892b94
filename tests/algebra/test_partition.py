"""Parts of a plan add up to the plan, for random plans, data and numbers of parts."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from functools import cache

import pytest
from algebra.plans import TABLES, Data, Names, data, fixpoints, over, plans
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from aspen.algebra.carried import Carried, Root
from aspen.algebra.functions import FUNCTIONS
from aspen.algebra.inline import inline
from aspen.algebra.partition import choose_root, explain_root, split
from aspen.algebra.plan import relations_of
from aspen.model.arrays import Array
from aspen.model.delta import merge
from aspen.model.schema import Column, Type
from aspen.streamsql import compile_views
from smartcis.catalog import CATALOG
from smartcis.queries import standing_queries

part, fingerprint = (FUNCTIONS[name].call for name in ("part", "fingerprint"))
values = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
floats = st.floats(allow_nan=False, allow_infinity=False)


def roots(plan):
    """Every column of every relation, with and without a key."""
    known = {**TABLES, "s": (Column("k", Type.TEXT), Column("v", Type.INT))}
    found = []
    for name in sorted(relations_of(plan)):
        for column in known[name]:
            found.append(Root(name, column.name))
            if name == "t" and column.name != "a":
                found.append(Root(name, column.name, "a"))
    return found


def keyed(rows: Data) -> Data:
    """Let column a be a key of t."""
    by_key = {row[0]: row for row in rows.tables["t"]}
    return replace(
        rows, tables={**rows.tables, "t": {r: rows.tables["t"][r] for r in by_key.values()}}
    )


@st.composite
def recursive(draw):
    """Something over a recursion, which is what is worth splitting."""
    names = Names()
    plan = draw(fixpoints(names))
    for _ in range(draw(st.integers(0, 3))):
        form = draw(
            st.sampled_from(
                [
                    "filter",
                    "project",
                    "join",
                    "anti",
                    "union",
                    "distinct",
                    "group",
                    "outer",
                    "mark",
                    "top",
                    "over",
                    "set",
                ]
            )
        )
        plan = draw(over(form, plan, names, 1))
    return plan


@settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))
@given(plans(3) | recursive(), data(), st.integers(1, 4), st.data())
def test_law_the_parts_add_up_to_the_whole(plan, rows, lanes, choice):
    found = roots(plan)
    assume(found)
    root = choice.draw(st.sampled_from(found), label="root")
    rows = keyed(rows)
    parts = [split(plan, root, number, lanes) for number in range(lanes)]
    assert all(one.plan.columns == plan.columns for one in parts)
    whole = rows.evaluate(plan)
    if parts[0].kept is None:
        event("left whole")
        assert all(one.plan == plan for one in parts)
        return
    event("kept" if parts[0].kept else "spread")
    total = {}
    for number, one in enumerate(parts):
        answer = rows.evaluate(one.plan)
        merge(total, answer)
        names = [column.name for column in plan.columns]
        for column, how in one.kept.items():
            place = names.index(column)
            for row in answer:
                value = row[place]
                if how is Carried.KEY:
                    own = [c.name for c in TABLES["t"]].index(root.column)
                    value = next(r[own] for r in rows.tables["t"] if r[0] == value)
                assert part(value, lanes) == number, (column, how)
    assert total == whole


@given(values | floats, st.integers(1, 7))
def test_law_a_value_falls_into_one_part(value, parts):
    assert 0 <= part(value, parts) < parts


@given(st.integers(-(2**53), 2**53), st.integers(1, 7))
def test_law_equal_numbers_fall_into_one_part(number, parts):
    assert part(float(number), parts) == part(number, parts)


@given(st.lists(st.integers(-(2**53), 2**53) | st.none(), max_size=4), st.integers(1, 9))
def test_law_equal_arrays_have_one_part_and_one_fingerprint(values, parts):
    array = Array(values)
    same = Array(None if value is None else float(value) for value in values)
    assert array == same
    assert part(array, parts) == part(same, parts)
    assert fingerprint(array, 1) == fingerprint(same, 1.0)


def test_parts_are_the_same_in_every_process():
    assert [part(value, 4) for value in (0, 1, 2, -7, "a", "Ulm", 0.5, True, None)] == [
        2,
        2,
        2,
        3,
        3,
        1,
        2,
        2,
        0,
    ]


@cache
def standing_plans():
    closed = {}
    for view in compile_views(standing_queries(), CATALOG):
        read = {name: closed[name] for name in relations_of(view.plan) if name in closed}
        closed[view.name] = inline(view.plan, read)
    return closed


RELATIONS = {relation.name: relation for relation in CATALOG}


@pytest.mark.parametrize(
    ("view", "root", "key"),
    [
        ("walking_cost", "route_request.node", ""),
        ("walking_parent", "route_request.node", ""),
        ("reachable_destination", "route_request.node", ""),
        ("nearest_destination", "route_request.node", "session"),
        ("route_step", "route_request.node", "session"),
        ("active_region", "region_seed.region_id", ""),
        ("region_size", "region_seed.region_id", ""),
        ("largest_region", None, ""),
        ("free_machine", None, ""),
    ],
)
def test_the_standing_views_are_split_by_their_demand(view, root, key):
    choice = choose_root(standing_plans()[view], RELATIONS, 2)
    if root is None:
        assert choice is None
    else:
        assert (str(choice.root), choice.root.key) == (root, key)


def test_the_reason_is_said():
    text = explain_root(standing_plans()["nearest_destination"], RELATIONS, 2)
    assert text.startswith("split over 2 lanes by route_request.node, because its recursion keeps")
    assert "found by its key session" in text
    assert explain_root(standing_plans()["free_machine"], RELATIONS, 2).startswith(
        "whole in one of"
    )
    assert explain_root(standing_plans()["walking_cost"], RELATIONS, 1) == (
        "in the lane, because there is one"
    )


CHOOSE = """
from aspen.algebra.partition import choose_root
from aspen.streamsql import compile_query
from tests.bench.scale_campus import CATALOG, FROM_SOURCES, RELATIONS

plan = compile_query(FROM_SOURCES, CATALOG).plan
print(choose_root(plan, {one.name: one for one in RELATIONS}, 2).root)
"""


def test_every_process_chooses_the_same_root():
    # Lanes never speak with each other; sets come in another order in each of their processes.
    chosen = [
        subprocess.run(
            [sys.executable, "-c", CHOOSE],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("0", "5", "6")
    ]
    assert chosen[0].startswith("route_request.")
    assert len(set(chosen)) == 1
