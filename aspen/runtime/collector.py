"""Collector: keep Python's cycle collector out of epochs.

A lane holds millions of small objects for good and makes hardly any cyclic garbage. Walking them
took 2.4 s of a 3 s load, and 0.2 s now and then in the middle of an epoch.

Spark's Python worker collects after every task, and the next task waits for it: with the views of
one building that was 0.1 s of every epoch, most of what the worker did. What is there when an epoch
ends is therefore set aside; now and then all of it is looked through for the garbage it has.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

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


@dataclass(slots=True)
class SetAside:
    """What a process has set aside from collection.

    Args:
        look_every: epochs between two looks at how much it is: counting takes a walk, too.
        growth: by how much it must have grown for a collection; a lane of millions of objects
            takes seconds to look through, and hardly any of what it makes is cyclic garbage.
        objects: how many there were when they were last looked through; 0 before the first look.
    """

    look_every: int = 500
    growth: float = 1.5
    objects: int = 0
    _epochs: int = 0

    def all(self) -> bool:
        """Set aside whatever there is.

        Returns:
            Whether it was looked through for garbage first.
        """
        self._epochs += 1
        look = self._epochs % self.look_every == 0
        if not look:
            gc.freeze()
            return False
        grown = bool(self.objects) and gc.get_freeze_count() > self.growth * self.objects
        if grown:
            gc.unfreeze()
            gc.collect()
        gc.freeze()
        if grown or not self.objects:
            self.objects = gc.get_freeze_count()
        return grown
