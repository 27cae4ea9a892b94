"""JSON from outside: what any door takes, and what each refuses in the same words."""

from __future__ import annotations

import json

import pytest

from smartcis.json_text import BadJSON, decoded

REFUSED = {
    "5,000 brackets": (b"[" * 5_000 + b"]" * 5_000, "nested too deeply"),
    "65 objects in one another": (b'{"a":' * 65 + b"{}" + b"}" * 65, "nested too deeply"),
    "a number with 400 digits": (b"[" + b"9" * 400 + b"]", "64 bits"),
    "a number with 5,000 digits": (b"-" + b"9" * 5_000, "64 bits"),
    "one more than 64 bits hold": (b"9223372036854775808", "64 bits"),
    "a huge exponent": (b'{"value": 1e999}', "too large"),
    "NaN": (b'{"value": NaN}', "NaN, which is no number"),
    "Infinity": (b"[-Infinity]", "-Infinity, which is no number"),
    "half a character": (rb'["\ud800"]', "half a character"),
    "half a character as a name": (rb'{"\udfff": 1}', "half a character"),
    "a null character": (rb'["\u0000"]', "a null character"),
    "the same name twice": (b'{"a": 1, "b": 2, "a": 3}', "same name twice"),
    "not UTF-8": (b'["\xff\xfe"]', "not UTF-8"),
    "a surrogate in bytes": (b'["\xed\xa0\x80"]', "not UTF-8"),
    "half an object": (b'{"a": ', "not JSON"),
    "nothing": (b"", "not JSON"),
    "too long": (b"[" + b" " * 1_001 + b"]", "too long"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_no_door_lets_in_what_nobody_can_compute_with(name):
    data, words = REFUSED[name]
    with pytest.raises(BadJSON, match=words) as refused:
        decoded(data, 10_001 if words != "too long" else 1_000)
    json.dumps(refused.value.as_dict()).encode()  # its words fit any log


def test_what_comes_in_is_the_same_as_before():
    value = {"a": [1, -(2**63) + 1, 0.5, 1e300, True, None, "ü😀"], "b": {}}
    assert decoded(json.dumps(value).encode()) == value
    assert decoded(json.dumps(value)) == value
    deep = b"[" * 64 + b"]" * 64
    assert json.dumps(decoded(deep)).encode() == deep


def test_half_a_character_in_a_text_that_was_never_bytes():
    with pytest.raises(BadJSON, match="half a character"):
        decoded('["\ud800"]')
