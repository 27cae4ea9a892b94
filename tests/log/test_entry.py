"""Entries on the wire: what goes in comes out, and nothing else does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aspen.log.entry import (
    BadEntry,
    Change,
    Declare,
    OneTimeKind,
    OneTimeQuery,
    Register,
    Tick,
    Transaction,
    Unregister,
    decode,
    encode,
)
from aspen.model.arrays import Array
from aspen.model.schema import Column, Relation, SourceKind, Type

times = st.floats(0, 4e9)
values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.text(),
    st.floats(allow_nan=False, allow_infinity=False),
)
rows = st.lists(values, max_size=5).map(tuple)
with_arrays = st.lists(values | st.lists(values, max_size=3).map(Array), max_size=5).map(tuple)
relations = st.just(
    Relation("r", (Column("a", Type.FLOAT, "kg", nullable=True),), SourceKind.STREAM, device="seat")
)
changes = st.builds(Change, st.text(), st.sampled_from([1, -1]), rows)
places = st.lists(st.integers(0, 9), max_size=3).map(tuple)
entries = st.one_of(
    st.builds(Transaction, times, st.lists(changes, max_size=3).map(tuple)),
    st.builds(Tick, times),
    st.builds(Declare, times, relations),
    st.builds(Register, times, st.text(), st.text()),
    st.builds(Unregister, times, st.text()),
    st.builds(
        OneTimeQuery,
        times,
        st.text(),
        st.text(),
        with_arrays,
        st.sampled_from(OneTimeKind),
        places,
        st.lists(changes, max_size=2).map(tuple),
        places,
    ),
)


@given(entries)
def test_law_decode_undoes_encode(entry) -> None:
    again = decode(encode(entry))
    assert again == entry
    assert repr(again) == repr(entry)  # 1, 1.0 and True are equal in Python, not in a view


def test_a_plain_why_is_spelt_as_it_always_was() -> None:
    old = b'{"k":"a","t":1.0,"a":"q","v":"reach","w":[1,2]}'
    assert decode(old) == OneTimeQuery(1.0, "q", "reach", (1, 2))
    assert encode(OneTimeQuery(1.0, "q", "reach", (1, 2))) == old


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"7",
        b'{"k":"z"}',
        b'{"k":"a","t":1.0,"a":"q"}',
        b'{"k":"a","t":1.0,"a":"q","v":"v","w":[],"q":"how"}',
        b'{"k":"a","t":1.0,"a":"q","v":"v","w":[],"c":[["door",1,[[1]]]]}',
        b'{"k":"a","t":1.0,"a":"q","v":"v","w":[[[1]]]}',
        b'{"k":"a","t":1.0,"a":"q","v":"v","w":[{}]}',
        b'{"k":"a","t":1.0,"a":"q","v":"v","w":3}',
    ],
)
def test_bytes_that_are_no_entry_are_refused(data) -> None:
    with pytest.raises(BadEntry):
        decode(data)
