"""AnnotationIndex: shared annotations, and nothing left when nobody carries them."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from aspen.provenance.bdd import Bdd
from aspen.provenance.index import AnnotationIndex


def test_equal_products_are_one_annotation() -> None:
    index: AnnotationIndex[str] = AnnotationIndex(Bdd())
    a, b = index.allocate(), index.allocate()
    one = index.times(index.times(index.true, a), b)
    other = index.times(index.times(index.true, b), a)
    assert one is other
    index.carry(one, "x")
    index.carry(one, "y")
    index.sweep()
    assert index.mentioning([a]) == index.mentioning([b, a]) == [one]
    assert list(one.carriers) == ["x", "y"]


def test_the_annotation_of_given_rows_is_true_and_stays() -> None:
    index: AnnotationIndex[str] = AnnotationIndex(Bdd())
    assert index.of(index.manager.true) is index.true
    index.carry(index.true, "x")
    index.drop(index.true, "x")
    assert index.sweep() == []


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=4), max_size=10), st.data())
def test_sweep_returns_to_the_baseline(paths, data) -> None:
    manager = Bdd()
    index: AnnotationIndex[int] = AnnotationIndex(manager)
    for _ in range(5):
        manager.allocate()
    for variable in range(5):
        manager.release(variable)
    baseline = manager.live_nodes()
    variables = {}
    carried = []
    for number, path in enumerate(paths):
        annotation = index.true
        for place in path:
            if place not in variables:
                variables[place] = index.allocate()
            annotation = index.times(annotation, variables[place])
        index.carry(annotation, number)
        carried.append(annotation)
    index.sweep()
    used = {place for path in paths for place in path}
    assert manager.live_variables() == len(used)
    keep = data.draw(st.sets(st.integers(0, max(0, len(paths) - 1))), label="keep")
    for number, annotation in enumerate(carried):
        if number not in keep:
            index.drop(annotation, number)
    index.sweep()
    left = {place for number in keep if number < len(paths) for place in paths[number]}
    assert manager.live_variables() == len(left)
    for number, annotation in enumerate(carried):
        if number in keep:
            index.drop(annotation, number)
    index.sweep()
    carried.clear()
    annotation = path = None
    assert len(index) == manager.live_variables() == 0
    assert manager.live_nodes() == baseline
