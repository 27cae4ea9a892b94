"""DeltaJoin and GenericJoin: the same rows as the oracle, and the reasons of joins in pairs."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from views.operators.join_worlds import Kept, Tables, joins, moves, spelt, tables

from aspen.algebra.plan import Join, Scan
from aspen.model.delta import Delta
from aspen.model.schema import Column, Type
from aspen.views.compile_joins import DELTA, WORST_CASE_OPTIMAL
from aspen.views.operators.multiway_join import MultiwayJoin
from aspen.views.why import why
from aspen.views.work import WorkExceeded
from tests.oracle import evaluate

quick = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
TOGETHER = (DELTA, WORST_CASE_OPTIMAL)
PAIRWISE = None
HUB = 200


def edges(alias: str) -> Scan:
    return Scan("edge", alias, tuple(Column(f"{alias}.{c}", Type.INT) for c in ("src", "dst")))


def cycle(length: int) -> Join:
    """Edges a0 → a1 → … that end where they began."""
    plan: Join | Scan = edges("a0")
    for number in range(1, length):
        on = [(f"a{number - 1}.dst", f"a{number}.src")]
        if number == length - 1:
            on.append(("a0.src", f"a{number}.dst"))
        plan = Join(plan, edges(f"a{number}"), tuple(on))
    assert isinstance(plan, Join)
    return plan


def hub() -> Delta:
    """Edges from many places to one, and from it to many others: paths, and no triangle."""
    return {row: 1 for n in range(1, HUB) for row in ((n, 0), (0, HUB + n))}


@pytest.mark.parametrize("how", TOGETHER)
@quick
@given(plan=joins(), states=st.lists(tables(), min_size=1, max_size=3))
def test_oracle_any_joins_over_any_changes(how, plan, states: list[Tables]) -> None:
    single, whole = Kept(plan, how), Kept(plan, how)
    assert isinstance(single.node, MultiwayJoin)
    nothing: Tables = {name: {} for name in states[0]}
    now = nothing
    for wanted in [*states, nothing]:
        steps = moves(now, wanted)
        for one in steps:
            single.change([one])
        whole.change(steps)
        now = wanted
        assert spelt(single.rows) == spelt(whole.rows) == spelt(evaluate(plan, now))
        assert spelt(single.node.contents()) == spelt(single.rows)
        assert spelt(Kept(plan, how, now).rows) == spelt(single.rows)
        assert single.indexed == whole.indexed
    assert whole.rows == {}
    assert whole.indexed == 0
    assert single.node.kept() == 0


@quick
@given(plan=joins(), held=tables())
def test_differential_rows_have_the_reasons_that_joins_in_pairs_give(plan, held) -> None:
    pairs, *together = (Kept(plan, how, held) for how in (PAIRWISE, *TOGETHER))
    for row in pairs.rows:
        reasons = why(pairs.node, row)
        for other in together:
            assert why(other.node, row) == reasons


@pytest.mark.parametrize("how", TOGETHER)
def test_what_changes_in_several_inputs_at_once_is_counted_once(how) -> None:
    kept = Kept(cycle(3), how, {"edge": {(100, 300): 1}})
    kept.change([("edge", row, 1) for row in ((300, 200), (200, 100))])
    turns = [(100, 300, 300, 200, 200, 100), (300, 200, 200, 100, 100, 300)]
    assert kept.rows == dict.fromkeys([*turns, (200, 100, 100, 300, 300, 200)], 1)
    kept.change([("edge", (200, 100), -1), ("edge", (7, 7), 1)])
    assert kept.rows == {(7, 7, 7, 7, 7, 7): 1}


def looked_at(kept: Kept) -> int:
    """Steps of computing all rows anew."""
    kept.circuit.meter.begin(0)
    kept.node.contents()
    return kept.circuit.meter.spent


def clique() -> Join:
    """Four places with an edge from each to all later ones."""
    plan: Join | Scan = edges("e01")
    for one, other, on in (
        (0, 2, [("e01.src", "e02.src")]),
        (1, 2, [("e01.dst", "e12.src"), ("e02.dst", "e12.dst")]),
        (0, 3, [("e01.src", "e03.src")]),
        (1, 3, [("e01.dst", "e13.src"), ("e03.dst", "e13.dst")]),
        (2, 3, [("e02.dst", "e23.src"), ("e03.dst", "e23.dst")]),
    ):
        plan = Join(plan, edges(f"e{one}{other}"), tuple(on))
    assert isinstance(plan, Join)
    return plan


@pytest.mark.parametrize("plan", [cycle(3), clique()], ids=["triangle", "clique"])
def test_a_hub_costs_what_it_has_edges_value_by_value(plan) -> None:
    held: Tables = {"edge": hub()}
    by_value, in_pairs = (Kept(plan, how, held) for how in (WORST_CASE_OPTIMAL, PAIRWISE))
    assert looked_at(in_pairs) >= (HUB - 1) ** 2
    assert looked_at(by_value) <= len(held["edge"])


def test_no_order_of_inputs_is_a_bad_one() -> None:
    """Of a triangle, written in any order, from both ends of a skewed graph."""
    held: Tables = {"edge": hub() | {(n % 40, n % 37): 1 for n in range(HUB)}}
    costs = set()
    follows = {"a0": "a1", "a1": "a2", "a2": "a0"}
    for first, second, third in itertools.permutations(follows):
        out, into = ("dst", "src") if follows[first] == second else ("src", "dst")
        begun = Join(edges(first), edges(second), ((f"{first}.{out}", f"{second}.{into}"),))
        ends = (f"{second}.{out}", f"{third}.{into}"), (f"{first}.{into}", f"{third}.{out}")
        costs.add(looked_at(Kept(Join(begun, edges(third), ends), WORST_CASE_OPTIMAL, held)))
    assert max(costs) <= 1.5 * min(costs)


def test_a_star_keeps_its_inputs_alone() -> None:
    width, rows = 7, 50
    plan: Join | Scan = edges("a0")
    for number in range(1, width):
        plan = Join(plan, edges(f"a{number}"), (("a0.src", f"a{number}.src"),))
    held: Tables = {"edge": {(n, n): 1 for n in range(rows)}}
    together, pairs = Kept(plan, DELTA, held), Kept(plan, PAIRWISE, held)
    assert together.rows == pairs.rows
    assert len(together.rows) == rows
    assert together.indexed == rows
    assert pairs.indexed == rows + (width - 2) * rows


@pytest.mark.parametrize("how", TOGETHER)
def test_it_ends_where_its_budget_does(how) -> None:
    held: Tables = {"edge": {(a, b): 1 for a in range(12) for b in range(12)}}
    kept = Kept(cycle(4), how, held)
    kept.circuit.meter.begin(500)
    with pytest.raises(WorkExceeded, match="a join takes more than the 500 steps"):
        kept.node.contents()


def test_equal_joins_are_one_node_and_leave_nothing_when_they_go() -> None:
    kept = Kept(cycle(3), WORST_CASE_OPTIMAL, {"edge": {(1, 2): 1, (2, 3): 1, (3, 1): 1}})
    source = kept.tables["edge"]
    # By source and by target: each serves all three inputs.
    assert len(source.arrangements) == 2
    kept.circuit.release(kept.node)
    assert source.arrangements == {}
    assert source.consumers == []
