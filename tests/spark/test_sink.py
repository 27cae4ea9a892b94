"""Changes of several lanes become one text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aspen.results.protocol import ViewChange
from aspen.results.wire import decode_changes, encode_changes
from aspen.spark.sink import join_changes

changes = st.lists(
    st.builds(ViewChange, view=st.text(max_size=3), delta=st.just({(1, "]["): 1})), max_size=3
)


@given(st.lists(changes, max_size=4))
def test_law_joining_texts_is_joining_lists(lanes):
    joined = join_changes([encode_changes(lane) for lane in lanes])
    assert list(decode_changes(joined)) == [change for lane in lanes for change in lane]
