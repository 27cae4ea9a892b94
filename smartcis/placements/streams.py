"""Streams: which relations of devices a plan text reads."""

from __future__ import annotations

from functools import lru_cache

from aspen.algebra.plan import relations_of
from aspen.algebra.read import read_plan
from aspen.errors import AspenError
from smartcis.catalog import STREAMS

DEVICE_NAMES = frozenset(relation.name for relation in STREAMS if relation.device)


@lru_cache(maxsize=8192)  # every submitted query is looked at again and again
def reads_of(plan_text: str) -> frozenset[str]:
    """Returns the relations and views a plan reads; none if its text is of an older version."""
    try:
        return frozenset(relations_of(read_plan(plan_text)))
    except AspenError:
        return frozenset()


def streams_of(plan_text: str) -> frozenset[str]:
    """Returns the device streams a plan reads row by row, not through views or the network."""
    return reads_of(plan_text) & DEVICE_NAMES
