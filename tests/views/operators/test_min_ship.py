"""MinShip: one derivation of a row goes on, the others wait; on the running example of [LTZIL09].

Links A→B p1, B→C p2, C→A p3, C→B p4. Fig. 2 ships 16 tuples: 4 links and 12 rows, each derivation
once. In one place nothing is shipped, but the same derivations are met: 4 by a link alone, 12 by
a row and a link; 9 of the 16 go on, 7 wait.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from views.lanes import Driver
from views.operators.laws import quick

from aspen.provenance.why import minimal_sets
from aspen.views.operators.fixpoint import FixpointOperator
from aspen.views.operators.support.absorption_eager import AbsorptionEager

A, B, C = range(3)
LINKS = {1: (A, B, 1), 2: (B, C, 1), 3: (C, A, 1), 4: (C, B, 1)}
ANNOTATIONS = {  # Fig. 2, derivation step 4
    (A, A): {(1, 2, 3)},
    (A, B): {(1,)},
    (A, C): {(1, 2)},
    (B, A): {(2, 3)},
    (B, B): {(2, 4), (1, 2, 3)},
    (B, C): {(2,)},
    (C, A): {(3,)},
    (C, B): {(4,), (1, 3)},
    (C, C): {(2, 4), (1, 2, 3)},
}
WITHOUT_P4 = {
    row: {product for product in products if 4 not in product}
    for row, products in ANNOTATIONS.items()
}


def example(strategy: str) -> Driver:
    driver = Driver("reach", strategy=strategy)
    driver.insert("link", LINKS.values())
    return driver


def counts(fixpoint: FixpointOperator) -> tuple[int, int]:
    """How many derivations went on, and how many wait."""
    groups = fixpoint.groups.values()
    on = sum(group.via is not None for group in groups)
    return on, sum(len(group.waiting) for group in groups) - on


def annotations(fixpoint: FixpointOperator) -> dict:
    """Each row's minimal products, by the names p1 … p4."""
    support = fixpoint.support
    assert isinstance(support, AbsorptionEager)
    names = {link[:2]: f for f, link in LINKS.items()}
    # A link is an input of the base and of the step, and has a variable as each.
    called = {variable: names.get(row[:2], 0) for (_, row), variable in support.variables.items()}
    return {
        group.best: minimal(
            {called[variable] for variable in product}
            for product in minimal_sets(support.index.manager, held.function)
        )
        for group, held in support.held.items()
    }


def minimal(products) -> set[tuple[int, ...]]:
    found = [set(product) for product in products]
    return {tuple(sorted(one)) for one in found if not any(other < one for other in found)}


@pytest.mark.parametrize(
    "strategy", ["absorption-lazy", "absorption-eager", "justification", "backward-forward"]
)
def test_nine_derivations_go_on_and_seven_wait(strategy) -> None:
    driver = example(strategy)
    assert counts(driver.fixpoint("reach")) == (9, 7)
    driver.delete("link", [LINKS[4]])
    # Of the 16, (C, B) by p4 and the three by a row that ends in C and p4 are gone.
    assert counts(driver.fixpoint("reach")) == (9, 3)


@pytest.mark.parametrize(
    "strategy", ["absorption-eager", "absorption-eager(size=1)", "absorption-eager(size=5)"]
)
def test_flushing_gives_the_annotations_of_figure_2(strategy) -> None:
    driver = example(strategy)
    fixpoint = driver.fixpoint("reach")
    assert annotations(fixpoint) == ANNOTATIONS
    assert driver.delete("link", [LINKS[4]]) == [], "no row goes"
    assert annotations(fixpoint) == WITHOUT_P4


def test_between_flushes_derivations_are_held_back() -> None:
    driver = Driver("reach", strategy="absorption-eager(interval=3)")
    driver.insert("link", LINKS.values())  # the second epoch: the registration was one
    fixpoint = driver.fixpoint("reach")
    before = annotations(fixpoint)
    assert all(before[row] <= ANNOTATIONS[row] for row in ANNOTATIONS)
    assert all(len(products) == 1 for products in before.values()), "what went on, nothing more"
    assert len(fixpoint.support.held_back) == 16
    driver.insert("link", [(7, 8, 1)])
    assert annotations(fixpoint) | ANNOTATIONS == annotations(fixpoint)
    assert not fixpoint.support.held_back


node = st.integers(0, 4)


@quick
@given(st.lists(st.tuples(node, node), max_size=9, unique=True), st.data())
def test_after_a_flush_annotations_are_the_reasons(pairs, data) -> None:
    driver = Driver("reach", strategy="absorption-eager")
    links = [(*pair, 1) for pair in pairs]
    driver.insert("link", links)
    gone = data.draw(st.lists(st.sampled_from(links), unique=True)) if links else []
    driver.delete("link", gone)
    support = driver.fixpoint("reach").support
    assert isinstance(support, AbsorptionEager)
    owners = {variable: row[:2] for (_, row), variable in support.variables.items()}
    for group, held in support.held.items():
        sets = minimal_sets(support.index.manager, held.function)
        links_of = [frozenset(owners[variable] for variable in one) for one in sets]
        reasons = {one for one in links_of if not any(other < one for other in links_of)}
        why = driver.lane.provenance.why("reach", group.best)
        assert reasons == {frozenset(row[:2] for _, row in one) for one in why.sets}
