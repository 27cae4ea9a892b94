"""What crosses the borders of recursions: counted from outside, for laws and figures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from aspen.model.delta import Delta
from aspen.runtime.borders import Borders


@dataclass(slots=True)
class BorderMeter:
    """What crossed the borders of one recursion.

    Args:
        derived: rows that came to some lane's leaving ones; without MinShip each would be shipped.
        shipped: rows sent because they were new or better.
        withdrawn: rows taken back.
    """

    derived: int = 0
    shipped: int = 0
    withdrawn: int = 0


@contextmanager
def metered() -> Iterator[dict[Borders, BorderMeter]]:
    """Count what all borders take while the block runs, by what one lane knows of a recursion."""
    meters: dict[Borders, BorderMeter] = defaultdict(BorderMeter)
    take = Borders.take

    def counted(borders: Borders, sent: Sequence[Delta]) -> list[Delta]:
        mail, meter = take(borders, sent), meters[borders]
        weights = [weight for delta in mail for weight in delta.values()]
        gained = sum(weight > 0 for weight in weights)
        meter.derived += sum(weight > 0 for delta in sent for weight in delta.values())
        meter.shipped += gained
        # A superstep withdraws or ships; what a better row replaces is not withdrawn.
        meter.withdrawn += 0 if gained else len(weights)
        return mail

    Borders.take = counted  # type: ignore[assignment, method-assign]
    try:
        yield meters
    finally:
        Borders.take = take  # type: ignore[method-assign]
