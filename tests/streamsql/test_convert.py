"""What SQL converts on the way into a column keeps to what the column holds."""

from __future__ import annotations

import pytest

from aspen.model.schema import INT_LEAST, INT_MOST, Column, Type
from aspen.streamsql.convert import BadValue, converted

INT = Column("n", Type.INT)


@pytest.mark.parametrize("value", [INT_MOST, INT_LEAST, str(INT_MOST), f" {INT_LEAST} "])
def test_the_largest_fit(value):
    assert converted(value, INT) == int(value)


@pytest.mark.parametrize(
    "value", [INT_MOST + 1, INT_LEAST - 1, 1e30, -1e30, "9223372036854775808", "1e30"]
)
def test_larger_ones_are_refused_with_what_was_found(value):
    with pytest.raises(BadValue, match="holds INT") as caught:
        converted(value, INT)
    assert caught.value.found == repr(value)[:40]
