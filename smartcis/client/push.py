"""Push: readings in calls of a bearable size, each under a key, so that repeating adds nothing."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from smartcis.client.problem import Problem
from smartcis.client.rest import Rest
from smartcis.client.typed import typed

AT_ONCE = 2_000  # of the 5,000 that the server takes; far below its 1 MB


@dataclass(frozen=True, slots=True)
class SensorReading:
    """What a sensor measured.

    Args:
        value: in `unit`, the unit of the sensor's kind.
        at_s: when, seconds since 1970; None for now.
        tag: the tag heard, for rfid only.
    """

    sid: str
    value: float
    unit: str
    at_s: float | None = None
    tag: str | None = None


@dataclass(frozen=True, slots=True)
class PushedReadings:
    """What was taken.

    Args:
        accepted: how many readings.
        position: of the last ones in the building's log; None where there were none.
    """

    accepted: int
    position: int | None


def push(
    rest: Rest, readings: Iterable[SensorReading | Mapping[str, Any]], key: str = ""
) -> PushedReadings:
    """Hands readings over, 2,000 in a call; each call is taken as a whole or not at all.

    Args:
        rest: of the server.
        readings: may be endless; they are sent as they come.
        key: names this push, so that a program that does it again adds nothing; by lot if empty.

    Raises:
        Problem: a call is refused; its notes say how many readings were taken before.
        NoConnection: nobody answered until patience was over.
    """
    key = key or secrets.token_urlsafe(12)
    accepted, position = 0, None
    for number, call in enumerate(_calls(readings)):
        try:
            answer = rest.call(
                *("POST", "readings/"),
                body=call,
                headers={"Idempotency-Key": f"{key}-{number}"},
                twice=True,
                lost=True,
            )
        except Problem as problem:
            if accepted:
                problem.add_note(f"{accepted} readings before were taken")
            raise
        taken = typed(PushedReadings, answer)
        accepted, position = accepted + taken.accepted, taken.position
    return PushedReadings(accepted, position)


def _calls(
    readings: Iterable[SensorReading | Mapping[str, Any]],
) -> Iterator[list[Mapping[str, Any]]]:
    call: list[Mapping[str, Any]] = []
    for one in readings:
        call.append(_body(one))
        if len(call) == AT_ONCE:
            yield call
            call = []
    if call:
        yield call


def _body(reading: SensorReading | Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(reading, SensorReading):
        return {name: value for name, value in asdict(reading).items() if value is not None}
    return reading
