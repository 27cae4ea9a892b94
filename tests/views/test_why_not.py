"""Why-not: what is told suffices, none of it can be left out, and asking changes nothing."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from views import small_world as world
from views.lanes import Driver, closure

from aspen.algebra.explain import plan_text
from aspen.log.entry import Change, Register
from aspen.model.delta import Delta, accumulate
from aspen.overlog import compile_program
from aspen.runtime.provenance_queries import RowIsThere
from aspen.views.pattern import ANY, Pattern, fits
from aspen.views.repair import Edit
from aspen.views.why_not import changes_of
from tests.oracle import evaluate

node = st.integers(0, 4)
small = st.integers(0, 2)
tables = st.fixed_dictionaries(
    {
        "link": st.sets(st.tuples(node, node, st.integers(1, 3)), max_size=6),
        "seed": st.sets(st.tuples(st.sampled_from("ab"), node), max_size=2),
        "lit": st.sets(st.tuples(node), max_size=4),
        "wall": st.sets(st.tuples(node, node, st.integers(1, 3)), max_size=2),
        "item": st.sets(
            st.tuples(small, st.none() | st.just("a"), st.none() | small, st.none()), max_size=3
        ),
        "pair": st.sets(st.tuples(st.none() | small, small), max_size=3),
    }
)
WANTED = {
    "reach": st.tuples(node, node),
    "region": st.tuples(st.sampled_from("ab"), node),
    "way": st.tuples(st.sampled_from("ab"), node, st.just(ANY)),
    "hops": st.tuples(node, st.just(ANY) | st.integers(0, 3)),
    "picked": st.tuples(small, st.just(ANY) | small),
    "joined": st.tuples(small, st.just(ANY), st.just(ANY) | small),
    "theta": st.tuples(small, small),
    "self_joined": st.tuples(small, small),
    "lonely": st.tuples(small, st.just(ANY) | st.just("a")),
    "lonelier": st.tuples(small, st.just(ANY) | st.just("a")),
    "either": st.tuples(small),
    "frequent": st.tuples(st.just("a"), st.just(ANY) | small),
    "parent": st.tuples(st.sampled_from("ab"), node, node),
}
SURE = {"reach", "region", "way", "picked", "joined", "theta", "self_joined", "either"}
"""Views whose missing rows can always be made to appear."""


def answer(view: str, held: dict[str, Delta]) -> Delta:
    """The view from scratch."""
    contents = dict(held)
    needed = closure([view])
    for name, compiled in world.VIEWS.items():
        if name in needed:
            contents[name] = evaluate(compiled.plan, contents)
    return contents[view]


def changed(held: dict[str, Delta], edits: list[Edit]) -> dict[str, Delta]:
    after = {name: dict(rows) for name, rows in held.items()}
    for relation, weight, row in changes_of(edits, lambda name, row: held[name][row]):
        accumulate(after[relation], row, weight)
    return after


def laws(view: str, wanted: Pattern, rows: dict[str, set]) -> None:
    driver = Driver(*WANTED)
    for relation, some in rows.items():
        driver.insert(relation, sorted(some, key=repr))
    held: dict[str, Delta] = {name: dict.fromkeys(some, 1) for name, some in rows.items()}
    if any(fits(row, wanted) for row in answer(view, held)):
        with pytest.raises(RowIsThere):
            driver.lane.provenance.why_not(view, wanted)
        return
    before = driver.lane.snapshot()
    found = driver.lane.provenance.why_not(view, wanted)
    assert driver.lane.snapshot() == before
    assert found.repairs or view not in SURE, (view, wanted)
    for repair in found.repairs:
        edits = list(repair.edits)
        for edit in edits:
            rows_by_weight = {w: row for _, w, row in changes_of([edit], lambda *_: 1)}
            named = {"insert": {1}, "delete": {-1}, "change": {1, -1}}
            assert rows_by_weight.keys() == named[edit.action]
        assert any(fits(row, wanted) for row in answer(view, changed(held, edits))), repair
        for fewer in itertools.combinations(edits, len(edits) - 1):
            left = answer(view, changed(held, list(fewer)))
            assert not any(fits(row, wanted) for row in left), (repair, fewer)
    sizes = [len(repair.edits) for repair in found.repairs]
    assert sizes == sorted(sizes)


quick = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


@quick
@given(st.data(), tables)
def test_oracle_a_repair_suffices_and_nothing_of_it_can_be_left_out(draw, rows) -> None:
    view = draw.draw(st.sampled_from(sorted(WANTED)), label="view")
    laws(view, draw.draw(WANTED[view], label="wanted"), rows)


@pytest.mark.parametrize("items", [set(), {(1, "a", 0, None)}, {(1, "a", 2, None)}])
@pytest.mark.parametrize("pairs", [{(1, 0)}, {(1, 1)}, {(1, 0), (1, 1)}, {(0, 2)}])
def test_oracle_a_repair_of_a_row_that_has_a_partner(items, pairs) -> None:
    laws("lonelier", (1, "a"), {"item": items, "pair": pairs})


@pytest.mark.nightly
@settings(quick, max_examples=1_500)
@given(st.data(), tables)
def test_oracle_a_repair_suffices_and_nothing_of_it_can_be_left_out_deeper(draw, rows) -> None:
    view = draw.draw(st.sampled_from(sorted(WANTED)), label="view")
    laws(view, draw.draw(WANTED[view], label="wanted"), rows)


def test_a_mutual_recursion_is_walked_back_to_what_it_reached() -> None:
    views = compile_program(
        "odd(X, Y) :- link(X, Y, _). odd(X, Y) :- even(X, Z), link(Z, Y, _)."
        " even(X, Y) :- odd(X, Z), link(Z, Y, _).",
        world.CATALOG,
    )
    driver = Driver()
    driver.take(*(Register(0.0, one.relation.name, plan_text(one.plan)) for one in views))
    driver.insert("link", [(0, 1, 0), (1, 2, 0), (3, 4, 0)])
    found = driver.lane.provenance.why_not("even", (0, 4))
    single = [repair.edits[0] for repair in found.repairs if len(repair.edits) == 1]
    told = {edit.after[:2] for edit in single if edit.after is not None}
    # To 4 in an even number of steps: from 1 in one, or by 3 from what an even number reaches.
    assert (1, 4) in told
    assert (2, 3) in told
    for edit in single:
        changes = changes_of([edit], lambda _name, _row: 1)
        assert (0, 4) in driver.lane.provenance.what_if("even", [Change(*one) for one in changes])
