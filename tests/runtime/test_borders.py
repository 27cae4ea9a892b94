"""Borders alone: mail folds to what has arrived, and at quiescence all that leaves is shipped."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aspen.model.delta import accumulate, merge
from aspen.runtime.borders import Borders, Layout

LANES = 3
# A row: node, cost, a column that every step keeps, the node it rests on, lane.
LAYOUT = Layout(keys=(0, 2), steady=(2,), cost=1, node=0)
leaving = st.dictionaries(
    st.tuples(st.integers(0, 5), st.sampled_from("ab")),
    st.tuples(st.integers(1, 4), st.integers(0, 5), st.integers(0, LANES - 1)),
)


@given(epochs=st.lists(st.lists(leaving, min_size=LANES, max_size=LANES), min_size=1, max_size=6))
def test_law_mail_folds_to_what_has_arrived(epochs):
    borders = Borders(LAYOUT, LANES)
    inboxes = [{} for _ in range(LANES)]
    before = [set() for _ in range(LANES)]

    def step(sent):
        for inbox, mail in zip(inboxes, borders.take(sent), strict=True):
            merge(inbox, mail)
        assert inboxes == [borders.arrived(lane) for lane in range(LANES)]

    for epoch in epochs:
        now = [
            {(node, cost, kept, *rest) for (node, kept), (cost, *rest) in rows.items()}
            for rows in epoch
        ]
        sent = []
        for old, new in zip(before, now, strict=True):
            delta = {}
            for row in old - new:
                accumulate(delta, row, -1)
            for row in new - old:
                accumulate(delta, row, 1)
            sent.append(delta)
        before = now
        step(sent)
        while borders.waiting:
            step([{} for _ in range(LANES)])
        shipped = [set(rows.values()) for rows in borders.shipped]
        assert shipped == now
        again = Borders.load(borders.dump())
        assert again.dump() == borders.dump()
