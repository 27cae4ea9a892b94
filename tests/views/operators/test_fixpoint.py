"""Fixpoint: recursive views under insertion and deletion, against networkx and the seeds."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from views.lanes import Driver, assert_empty

from aspen.views.operators import fixpoint as module

node = st.integers(0, 7)
links = st.lists(st.tuples(node, node, st.integers(1, 9)), max_size=30, unique=True)
quick = settings(max_examples=30, deadline=None)

A, B, C = 0, 1, 2
P1, P2, P3, P4 = (A, B, 1), (B, C, 1), (C, A, 1), (C, B, 1)


def multigraph(rows) -> nx.MultiDiGraph:
    graph = nx.MultiDiGraph()
    graph.add_weighted_edges_from(rows)
    return graph


def reachable(rows) -> set[tuple[int, int]]:
    graph = multigraph(rows)
    return {
        (source, end)
        for source in graph
        for hop in graph.successors(source)
        for end in [hop, *nx.descendants(graph, hop)]
    }


def cheapest(seeds, rows) -> set[tuple[str, int, int]]:
    graph = multigraph(rows)
    graph.add_nodes_from(n for _, n in seeds)
    found: dict[tuple[str, int], int] = {}
    for name, start in seeds:
        for end, cost in nx.single_source_dijkstra_path_length(graph, start).items():
            found[name, end] = min(cost, found.get((name, end), cost))
    return {(name, end, cost) for (name, end), cost in found.items()}


def held(driver: Driver, row) -> frozenset:
    """The (src, dst) of the links in the annotation a settled row carries."""
    fixpoint = driver.fixpoint("reach")
    annotation = fixpoint.support.annotation(fixpoint.groups[row])
    return frozenset(link[:2] for _, link in annotation)


def only(changes, view: str):
    """The one change of a view."""
    (change,) = [change for change in changes if change.view == view]
    return change


def test_shape_annotations_of_the_seeds_network() -> None:
    driver = Driver("reach")
    driver.insert("link", [P1, P2, P3, P4])
    # [LTZIL09] Fig. 2, step 4; rows of `reach` over (src, dst).
    full = {
        (A, A): {(P1, P2, P3)},
        (A, B): {(P1,)},
        (A, C): {(P1, P2)},
        (B, A): {(P2, P3)},
        (B, B): {(P2, P4), (P1, P2, P3)},
        (B, C): {(P2,)},
        (C, A): {(P3,)},
        (C, B): {(P4,), (P1, P3)},
        (C, C): {(P2, P4), (P1, P2, P3)},
    }
    assert driver.rows("reach") == set(full)
    for row, terms in full.items():
        why = driver.lane.provenance.why("reach", row)
        assert why.complete
        expected = {frozenset(("link", link) for link in term) for term in terms}
        assert set(why.sets) == expected, row
        # MinShip forwards one of them.
        forwarded = held(driver, row)
        assert forwarded in [{link[:2] for link in term} for term in terms], row


def test_shape_deleting_a_link_of_the_seeds_network_removes_no_row() -> None:
    driver = Driver("reach")
    driver.insert("link", [P1, P2, P3, P4])
    assert driver.delete("link", [P4]) == []
    assert len(driver.rows("reach")) == 9
    assert held(driver, (C, B)) == {P1[:2], P3[:2]}
    assert held(driver, (C, C)) == held(driver, (B, B)) == {P1[:2], P2[:2], P3[:2]}
    (change,) = driver.delete("link", [P3])
    # Without C -> A nothing leads out of C.
    assert set(change.delta) == set(full_rows()) - {(A, B), (A, C), (B, C)}
    assert set(change.delta.values()) == {-1}


def full_rows() -> list[tuple[int, int]]:
    return [(source, end) for source in (A, B, C) for end in (A, B, C)]


@quick
@given(st.lists(links, min_size=1, max_size=5))
def test_oracle_reachability_on_cyclic_graphs(states) -> None:
    driver, now = Driver("reach"), set()
    for state in [*map(set, states), set()]:
        # Deletions and insertions in one epoch.
        driver.change(
            *(("link", -1, row) for row in sorted(now - state)),
            *(("link", 1, row) for row in sorted(state - now)),
        )
        now = state
        assert driver.rows("reach") == reachable(now)
    assert_empty(driver.fixpoint("reach"))


@quick
@given(
    st.lists(
        st.tuples(
            links,
            st.sets(st.tuples(st.sampled_from("ab"), node), max_size=3),
            st.sets(node, max_size=8),
            st.lists(st.tuples(node, node, st.integers(1, 9)), max_size=6, unique=True),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_oracle_cheapest_walks_from_several_demanded_places(states) -> None:
    driver = Driver("way")
    now = {"link": set(), "seed": set(), "lit": set(), "wall": set()}
    for link, seed, lit, wall in [*states, ([], set(), set(), [])]:
        wanted = {"link": set(link), "seed": seed, "lit": {(n,) for n in lit}, "wall": set(wall)}
        driver.change(
            *((name, -1, row) for name in now for row in sorted(now[name] - wanted[name])),
            *((name, 1, row) for name in now for row in sorted(wanted[name] - now[name])),
        )
        now = wanted
        passable = [row for row in now["link"] if (row[0],) in now["lit"]] + list(now["wall"])
        assert driver.rows("way") == cheapest(now["seed"], passable)
    assert_empty(driver.fixpoint("way"))


@quick
@given(links, st.randoms(use_true_random=False))
def test_one_by_one_equals_all_at_once_and_back_is_nothing(rows, random) -> None:
    whole, single = Driver("reach", "hops", "wide"), Driver("reach", "hops", "wide")
    for driver in (whole, single):
        driver.insert("seed", [("a", 0)])
    whole.insert("link", rows)
    for row in random.sample(rows, len(rows)):
        single.insert("link", [row])
    for view in ("reach", "hops", "wide"):
        assert whole.rows(view) == single.rows(view)
    for row in random.sample(rows, len(rows)):
        single.delete("link", [row])
    single.delete("seed", [("a", 0)])
    for view in ("reach", "hops", "wide"):
        assert_empty(single.fixpoint(view))


def test_a_row_derived_twice_survives_the_loss_of_one_way() -> None:
    driver = Driver("reach")
    driver.insert("link", [(0, 1, 1), (1, 3, 1), (0, 2, 1), (2, 3, 1)])
    (change,) = driver.delete("link", [(1, 3, 1)])
    assert change.delta == {(1, 3): -1}
    (change,) = driver.delete("link", [(2, 3, 1)])
    assert change.delta == {(2, 3): -1, (0, 3): -1}


def test_rows_of_a_circle_do_not_keep_each_other_alive() -> None:
    driver = Driver("reach")
    driver.insert("link", [(0, 1, 1), (1, 2, 1), (2, 1, 1)])
    driver.delete("link", [(0, 1, 1)])
    assert driver.rows("reach") == {(1, 2), (2, 1), (1, 1), (2, 2)}


def test_a_row_that_comes_again_is_as_it_was() -> None:
    driver = Driver("way")
    driver.insert("seed", [("a", 0)])
    driver.insert("lit", [(n,) for n in range(4)])
    driver.insert("link", [(0, 1, 5), (1, 2, 5), (0, 2, 20)])
    before = driver.rows("way")
    lost = only(driver.delete("link", [(1, 2, 5)]), "way")
    assert lost.delta == {("a", 2, 10): -1, ("a", 2, 20): 1}
    back = only(driver.insert("link", [(1, 2, 5)]), "way")
    assert back.delta == {("a", 2, 10): 1, ("a", 2, 20): -1}
    assert driver.rows("way") == before


def test_waiting_derivations_stay_as_many_as_there_are_links() -> None:
    driver = Driver("way")
    driver.insert("seed", [("a", 0)])
    driver.insert("lit", [(n,) for n in range(6)])
    rows = [(n, m, 1 + (n * m) % 5) for n in range(6) for m in range(6) if n != m]
    driver.insert("link", rows)
    fixpoint = driver.fixpoint("way")
    waiting = sum(len(group.waiting) for group in fixpoint.groups.values())
    for _ in range(20):
        for row in rows[:10]:
            driver.delete("link", [row])
        driver.insert("link", rows[:10])
    assert sum(len(group.waiting) for group in fixpoint.groups.values()) == waiting


def test_given_rows_get_no_variables_and_their_loss_rebuilds() -> None:
    driver = Driver("way")
    driver.insert("seed", [("a", 0)])
    driver.insert("wall", [(0, 1, 1), (1, 2, 1), (0, 2, 5)])
    fixpoint = driver.fixpoint("way")
    assert fixpoint.support.index.manager.live_variables() == 1  # the demanded place
    change = only(driver.delete("wall", [(1, 2, 1)]), "way")
    assert change.delta == {("a", 2, 2): -1, ("a", 2, 5): 1}
    assert driver.rows("way") == {("a", 0, 0), ("a", 1, 1), ("a", 2, 5)}


def test_equal_derivations_of_an_input_row_count_as_one() -> None:
    driver = Driver("reach")
    driver.insert("link", [(0, 1, 1), (0, 1, 1), (1, 2, 1)])
    assert driver.delete("link", [(0, 1, 1)]) == []
    (change,) = driver.delete("link", [(0, 1, 1)])
    assert change.delta == {(0, 1): -1, (0, 2): -1}


def test_a_recursion_that_never_ends_is_stopped_and_harms_no_other_view(monkeypatch) -> None:
    monkeypatch.setattr(module, "MAX_ROWS", 50)
    driver = Driver("reach", "both")
    driver.insert("link", [(n, n + 1, 1) for n in range(9)])
    change = only(driver.insert("link", [(9, 10, 1), (10, 0, 1)]), "reach")
    assert change.error is not None
    assert change.error["code"] == "aspen.views.endless_recursion"
    # What watchers hold is taken back.
    assert len(change.delta) == 45
    assert set(change.delta.values()) == {-1}
    assert driver.lane.rows("reach") == {}
    driver.insert("pair", [(1, 2)])
    assert driver.rows("both") == {(2,)}


def test_costs_that_shrink_along_a_circle_are_refused() -> None:
    driver = Driver("way")
    driver.insert("seed", [("a", 0)])
    driver.insert("lit", [(0,), (1,)])
    changes = driver.insert("link", [(0, 1, -2), (1, 0, 1)])
    change = only(changes, "way")
    assert change.error is not None
    assert change.error["code"] == "aspen.views.endless_recursion"


@pytest.mark.parametrize("view", ["reach", "way", "region", "wide", "hops"])
def test_nothing_is_done_for_a_view_whose_inputs_did_not_change(view, monkeypatch) -> None:
    driver = Driver(view)
    driver.insert("link", [(0, 1, 1), (1, 2, 1)])

    def refuse(_self):
        raise AssertionError("stepped")

    monkeypatch.setattr(module.FixpointOperator, "step", refuse)
    driver.insert("pair", [(1, 1)])
    driver.tick(100.0)
    assert driver.lane.views.by_name[view].error is None
