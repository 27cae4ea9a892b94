"""AggSel: of each group only the best row goes on, and a lost best is replaced."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from views import small_world as world
from views.lanes import Driver
from views.operators.laws import Tables, check, quick, shuffles
from views.operators.recursions import QUERIES as RECURSIONS

from aspen.views.operators.fixpoint import FixpointOperator

QUERIES = {
    "min": """WITH RECURSIVE walk(node, cost) AS (
        SELECT s.node, 0 FROM seed s
      UNION
        SELECT l.dst, MIN(w.cost + l.cost) FROM walk w JOIN link l ON l.src = w.node
        WHERE w.cost < 40 GROUP BY l.dst
    ) SELECT node, cost FROM walk""",
    "max": world.QUERIES["wide"],
    "twice_recursive": RECURSIONS["halves apart"],
}
links = st.dictionaries(world.rows["link"], st.integers(1, 2), max_size=7)
seeds = st.dictionaries(world.rows["seed"], st.just(1), max_size=2)
states: st.SearchStrategy[list[Tables]] = st.lists(
    st.fixed_dictionaries({"link": links, "seed": seeds}), min_size=1, max_size=3
)


@pytest.mark.parametrize("case", sorted(QUERIES))
@quick
@given(states=states, random=shuffles)
def test_laws(case, states, random) -> None:
    check(FixpointOperator, QUERIES[case], states, random)


def test_a_beaten_row_waits_and_comes_back_in_one_delta() -> None:
    driver = Driver("wide")
    driver.insert("seed", [("a", 0)])
    driver.insert("link", [(0, 1, 3), (1, 2, 9)])
    (better,) = driver.insert("link", [(0, 1, 7)])
    assert better.delta == {(1, 3): -1, (1, 7): 1, (2, 3): -1, (2, 7): 1}
    (back,) = driver.delete("link", [(0, 1, 7)])
    assert back.delta == {(1, 7): -1, (1, 3): 1, (2, 7): -1, (2, 3): 1}
    assert driver.delete("link", [(1, 2, 9)])[0].delta == {(2, 3): -1}


def test_losing_a_beaten_row_says_nothing() -> None:
    driver = Driver("wide")
    driver.insert("seed", [("a", 0)])
    driver.insert("link", [(0, 1, 3), (0, 1, 7)])
    assert driver.delete("link", [(0, 1, 3)]) == []
    assert driver.insert("link", [(0, 1, 7)]) == []
    assert driver.delete("link", [(0, 1, 7)]) == [], "there were two of it"
