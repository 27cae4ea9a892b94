"""Collector: keep Python's cycle collector out of epochs.

A lane holds millions of small objects for good and makes hardly any cyclic garbage. Walking them
took 2.4 s of a 3 s load, and 0.2 s now and then in the middle of an epoch.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_MANY = 50_000
"""Objects made in one epoch from which on they are taken for lasting state."""


@contextmanager
def uncollected() -> Iterator[None]:
    """Run a block without cycle collection; what a large block leaves is exempt from then on."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if gc.get_count()[0] > _MANY:
            gc.freeze()
        if enabled:
            gc.enable()
