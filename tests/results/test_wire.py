"""How changes travel: what comes back equals what was sent, and rows are read when asked for."""

from __future__ import annotations

import json

import pytest

from aspen.results.protocol import ViewChange
from aspen.results.wire import decode_changes, decode_rows, encode_changes, encode_row

CHANGES = (
    ViewChange("a", {("x", 1, None): 2, ('"y",\\', 1.5, True): -1}, (("n", "text", ""),)),
    ViewChange("b", closed=True),
    ViewChange("c", error={"code": "c", "exists": []}),
)


def test_changes_come_back_as_they_were():
    found = decode_changes(encode_changes(CHANGES))
    assert found == CHANGES
    assert [change.size for change in found] == [2, 0, 0]
    assert found[0] != CHANGES[1]


def test_rows_that_nobody_asks_for_are_not_read():
    text = json.dumps([{"v": "a", "d": ["no row", 1]}, {"v": "b", "d": ['["row"]', 1]}])
    spoilt, sound = decode_changes(text)
    assert (spoilt.view, spoilt.size) == ("a", 1)
    assert (sound.delta, sound.size) == ({("row",): 1}, 1)
    assert sound.delta is sound.delta
    with pytest.raises(ValueError, match="Expecting value"):
        _ = spoilt.delta


def test_any_number_of_rows_comes_back():
    rows = [(number, f"[{number},") for number in range(1_201)]
    assert list(decode_rows([encode_row(row) for row in rows])) == rows
    assert list(decode_rows([])) == []
