"""TopK and the set operations hold to their laws under any changes."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aspen.algebra.order import row_order
from aspen.algebra.plan import SetFunction, SortKey
from aspen.model.delta import accumulate
from aspen.model.schema import Column, Relation, Type
from aspen.views.circuit import Circuit
from aspen.views.operators.set_operation import SetOperationOperator
from aspen.views.operators.top_k import TopKOperator

COLUMNS = (Column("k", Type.INT), Column("v", Type.INT, "", True))
rows = st.tuples(st.integers(0, 1), st.none() | st.integers(0, 4))
epochs = st.lists(st.lists(st.tuples(rows, st.integers(-1, 2)), max_size=6), max_size=6)
keys = st.lists(
    st.builds(SortKey, st.sampled_from(["k", "v"]), st.booleans(), st.booleans()), max_size=2
)


def changed(circuit, source, contents, epoch):
    """Apply an epoch's changes that leave no negative row."""
    for row, weight in epoch:
        if weight and contents.get(row, 0) + weight >= 0:
            circuit.change(source, row, weight)
            accumulate(contents, row, weight)
    moved = circuit.step()
    deltas = {id(node): dict(node.delta) for node in moved}
    circuit.settle(moved)
    return deltas


@settings(max_examples=80, deadline=None)
@given(epochs, keys, st.none() | st.integers(0, 4), st.integers(0, 3), st.booleans())
def test_law_top_k_is_a_window_of_the_sorted_rows(history, order_by, limit, offset, parted):
    circuit = Circuit()
    source = circuit.source(Relation("t", COLUMNS))
    order = row_order(order_by, COLUMNS)
    node = TopKOperator(source, (0,) if parted else (), order, limit, offset)
    circuit.add("top", node)
    contents, folded = {}, {}
    for epoch in history:
        delta = changed(circuit, source, contents, epoch).get(id(node), {})
        for row, weight in delta.items():
            accumulate(folded, row, weight)
        wanted = Counter()
        for part in (0, 1) if parted else (None,):
            every = [r for r, w in contents.items() if part in (None, r[0]) for _ in range(w)]
            end = None if limit is None else offset + limit
            wanted.update(sorted(every, key=order)[offset:end])
        assert node.contents() == wanted == folded


@pytest.mark.parametrize("function", SetFunction)
@pytest.mark.parametrize("keeps", [False, True])
def test_law_set_operations_compare_weights(function, keeps):
    @settings(max_examples=60, deadline=None)
    @given(epochs, epochs)
    def holds(one, other):
        circuit = Circuit()
        left = circuit.source(Relation("l", COLUMNS))
        right = circuit.source(Relation("r", COLUMNS))
        node = SetOperationOperator(left, right, function, keeps_duplicates=keeps)
        circuit.add("set", node)
        lefts, rights, folded = {}, {}, {}
        for number in range(max(len(one), len(other))):
            for source, contents, history in ((left, lefts, one), (right, rights, other)):
                epoch = history[number] if number < len(history) else []
                delta = changed(circuit, source, contents, epoch).get(id(node), {})
                for row, weight in delta.items():
                    accumulate(folded, row, weight)
            mine, theirs = Counter(lefts), Counter(rights)
            if not keeps:
                mine, theirs = Counter(set(lefts)), Counter(dict.fromkeys(rights, 9))
            wanted = mine & theirs if function is SetFunction.INTERSECT else mine - theirs
            assert node.contents() == wanted == folded

    holds()
