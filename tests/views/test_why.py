"""Why: each set alone suffices, and nothing survives the loss of a necessary row."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from views import small_world as world
from views.lanes import Driver, closure

from aspen.model.delta import Delta
from aspen.model.schema import Row
from aspen.runtime.provenance_queries import NoSuchRow, UnknownView
from aspen.views import why as module
from tests.oracle import evaluate

node = st.integers(0, 4)
tables = st.fixed_dictionaries(
    {
        "link": st.sets(st.tuples(node, node, st.integers(1, 3)), max_size=9),
        "seed": st.sets(st.tuples(st.sampled_from("ab"), node), max_size=3),
        "lit": st.sets(st.tuples(node), max_size=5),
        "wall": st.sets(st.tuples(node, node, st.integers(1, 3)), max_size=3),
        "item": st.sets(
            st.tuples(st.integers(0, 2), st.none(), st.integers(0, 2), st.none()), max_size=4
        ),
        "pair": st.sets(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=4),
    }
)
VIEWS = ("reach", "way", "region", "joined", "either", "parent")


def answer(view: str, base: set[tuple[str, Row]]) -> Delta:
    """The view over some base rows alone."""
    contents: dict[str, Delta] = {}
    for relation, row in base:
        contents.setdefault(relation, {})[row] = 1
    needed = closure([view])
    for name, compiled in world.VIEWS.items():
        if name in needed:
            contents[name] = evaluate(compiled.plan, contents)
    return contents[view]


@settings(max_examples=20, deadline=None)
@given(tables)
def test_oracle_sets_suffice_and_necessary_rows_are_missed(rows) -> None:
    driver = Driver(*VIEWS)
    for relation, held in rows.items():
        driver.insert(relation, sorted(held, key=repr))
    everything = {(relation, row) for relation, held in rows.items() for row in held}
    given_rows = {base for base in everything if base[0] == "wall"}
    for view in VIEWS:
        for row in driver.lane.rows(view):
            why = driver.lane.provenance.why(view, row)
            assert why.complete
            assert why.sets
            for members in why.sets[:4]:
                assert members <= everything
                assert row in answer(view, set(members) | given_rows), (view, row, members)
                if view == "parent":
                    continue  # a worse walk may have the same parent
                for one in members:
                    left = set(members) - {one} | given_rows
                    assert row not in answer(view, left), (view, row, members, one)
            for base in why.necessary if view != "parent" else ():
                assert row not in answer(view, everything - {base}), (view, row, base)


def test_beyond_the_budget_one_set_and_the_true_necessary_rows_are_given(monkeypatch) -> None:
    driver = Driver("reach")
    bridge = (0, 1, 1)
    dense = [(n, m, 1) for n in range(1, 9) for m in range(1, 9) if n != m]
    driver.insert("link", [bridge, *dense])
    monkeypatch.setattr(module, "_MAX_NODES", 200)
    why = driver.lane.provenance.why("reach", (0, 8))
    assert not why.complete
    (members,) = why.sets
    assert (0, 8) in answer("reach", set(members))
    assert why.necessary == {("link", bridge)}


def test_an_aggregate_rests_on_its_whole_group_and_a_reading_on_itself() -> None:
    driver = Driver("size", "last")
    driver.insert("seed", [("a", 0)])
    driver.insert("lit", [(0,), (1,)])
    driver.insert("link", [(0, 1, 1)])
    why = driver.lane.provenance.why("size", ("a", 2))
    assert why.necessary == {
        ("seed", ("a", 0)),
        ("lit", (0,)),
        ("lit", (1,)),
        ("link", (0, 1, 1)),
    }
    driver.change(("reading", 1, (1, 7, 5.0)))
    assert driver.lane.provenance.why("last", (1, 7)).sets == (
        frozenset({("reading", (1, 7, 5.0))}),
    )


def test_a_row_that_is_not_there_has_no_reasons() -> None:
    driver = Driver("reach")
    with pytest.raises(NoSuchRow):
        driver.lane.provenance.why("reach", (0, 1))
    with pytest.raises(UnknownView):
        driver.lane.provenance.why("nobody", (0, 1))
