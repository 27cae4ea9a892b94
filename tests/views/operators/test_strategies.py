"""Strategies: the same laws for every one of them, on cyclic graphs, choices and given rows."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from views import small_world as world
from views.lanes import Driver, assert_empty

from aspen.model.schema import Row
from aspen.runtime.lane import Lane
from aspen.views.operators.support.strategies import STRATEGIES

SPELT = [
    *STRATEGIES,
    "absorption-eager(size=1)",
    "absorption-eager(size=3, interval=3)",
    "absorption-eager(nodes=12)",
    "absorption-lazy(nodes=9)",
]
VIEWS = ("reach", "way", "wide", "region", "hops", "size", "parent")
RECURSIVE = ("reach", "way", "wide", "region", "hops")

place = st.integers(0, 4)
rows: dict[str, st.SearchStrategy[Row]] = {
    "link": st.tuples(place, place, st.integers(0, 3)),
    "seed": st.tuples(st.sampled_from("ab"), place),
    "lit": st.tuples(place),
    "wall": st.tuples(place, place, st.integers(0, 3)),
}
tables = st.fixed_dictionaries(
    {
        "link": st.sets(rows["link"], max_size=12),
        "seed": st.sets(rows["seed"], max_size=3),
        "lit": st.sets(rows["lit"], max_size=5),
        "wall": st.sets(rows["wall"], max_size=3),
    }
)
Tables = dict[str, set[Row]]
Move = tuple[str, int, Row]
NOTHING: Tables = {name: set() for name in rows}

quick = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


def moves(now: Tables, wanted: Tables) -> list[Move]:
    """What leads from some tables to others."""
    return [
        *((name, -1, row) for name in now for row in sorted(now[name] - wanted[name])),
        *((name, 1, row) for name in now for row in sorted(wanted[name] - now[name])),
    ]


def answers(lane: Lane) -> dict[str, object]:
    errors = [view.error for view in lane.views.by_name.values() if view.error]
    assert not errors, errors
    return {view: lane.rows(view) for view in VIEWS}


def expected(held: Tables) -> dict[str, object]:
    """The oracle's answers."""
    model = world.Model()
    for name, found in held.items():
        model.tables[name] = dict.fromkeys(found, 1)
    found = model.answers()
    return {view: found[view] for view in VIEWS}


@pytest.mark.parametrize("strategy", SPELT)
@quick
@given(states=st.lists(tables, min_size=1, max_size=4), random=st.randoms(use_true_random=False))
def test_oracle_after_every_change_and_back_to_nothing(strategy, states, random) -> None:
    driver, now = Driver(*VIEWS, strategy=strategy), NOTHING
    for wanted in [*states, NOTHING]:
        changes = moves(now, wanted)
        if random.random() < 0.5:  # one epoch, or one for each change
            driver.change(*changes)
        else:
            random.shuffle(changes)
            for change in changes:
                driver.change(change)
        now = wanted
        assert answers(driver.lane) == expected(now)
    for view in RECURSIVE:
        assert_empty(driver.fixpoint(view))


@pytest.mark.parametrize("strategy", ["absorption-eager", "absorption-lazy"])
def test_beyond_its_node_budget_a_view_goes_on_and_says_so(strategy) -> None:
    driver = Driver("reach", "size", strategy=f"{strategy}(nodes=20)")
    driver.insert("link", [(0, 1, 1)])
    assert driver.fixpoint("reach").support.annotation
    links = [(one, other, 1) for one in range(5) for other in range(5) if one != other]
    driver.insert("link", links)
    assert len(driver.rows("reach")) == 25
    assert not hasattr(driver.fixpoint("reach").support, "annotation")
    (error,) = driver.lane.errors
    assert error[1] == "aspen.views.node_budget"
    assert error[2] == (
        f"view reach: its annotations outgrew 20 nodes under {strategy}: "
        "it goes on by justification"
    )
    driver.delete("link", [(0, 1, 1), *links])
    assert driver.rows("reach") == set()
    assert_empty(driver.fixpoint("reach"))
    restored = Lane.restore(driver.lane.snapshot())
    assert list(restored.errors) == list(driver.lane.errors)
