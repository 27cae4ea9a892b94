"""Grouping keys that put each lane into a partition of its own.

Spark sends a key to partition `pmod(murmur3(key, 42), partitions)`; the keys 0, 1, 2, … would
share partitions by chance, and a lane that shares one waits for the other.
"""

from __future__ import annotations

_SEED = 42
_MASK = 0xFFFFFFFF


def _rotate(value: int, bits: int) -> int:
    return ((value << bits) | (value >> (32 - bits))) & _MASK


def spark_hash(key: int) -> int:
    """Returns Spark's signed 32-bit `hash()` of an INT."""
    k1 = (key & _MASK) * 0xCC9E2D51 & _MASK
    k1 = _rotate(k1, 15) * 0x1B873593 & _MASK
    h1 = _rotate(_SEED ^ k1, 13) * 5 + 0xE6546B64 & _MASK
    h1 ^= 4  # the length of an INT in bytes
    h1 = (h1 ^ (h1 >> 16)) * 0x85EBCA6B & _MASK
    h1 = (h1 ^ (h1 >> 13)) * 0xC2B2AE35 & _MASK
    h1 ^= h1 >> 16
    return h1 - (1 << 32) if h1 >> 31 else h1


def lane_keys(lanes: int) -> tuple[int, ...]:
    """Returns one key per lane.

    Law: the keys fall into `lanes` different partitions.
    """
    found: dict[int, int] = {}
    key = 0
    while len(found) < lanes:
        found.setdefault(spark_hash(key) % lanes, key)
        key += 1
    return tuple(found[partition] for partition in range(lanes))
