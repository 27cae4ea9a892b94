"""Ask for a sensor's last hour, as the engine keeps it."""

from __future__ import annotations

from dataclasses import dataclass

from aspen.streamsql import compile_query
from smartcis.access.owner import Owner
from smartcis.catalog import CATALOG
from smartcis.models import Sensor
from smartcis.models.lookup import found
from smartcis.models.sensor_kinds import kind_named
from smartcis.questions.once import answer


@dataclass(frozen=True, slots=True)
class Sample:
    """One reading of a minute."""

    at_s: float
    value: float


@dataclass(frozen=True, slots=True)
class Hour:
    """A sensor's last hour.

    Args:
        samples: the oldest first.
        since_s: when the hour began, by the log's clock.
    """

    sid: str
    name: str
    unit: str
    simulated: bool
    period_s: float
    since_s: float
    at_s: float
    samples: tuple[Sample, ...]


def ask_hour(sid: str, owner: Owner) -> Hour:
    """Asks the engine for what it keeps of a sensor's last hour.

    Raises:
        NotFound: no such sensor.
        NoAnswer: the engine did not answer in time.
        NotAnswered: it cannot.
    """
    sensor = found(Sensor, sid, "sensor")
    kind = kind_named(sensor.kind)
    quoted = sid.replace("'", "''")
    text = f"SELECT p.at_s, p.value FROM past_reading p WHERE p.sid = '{quoted}' ORDER BY p.at_s"  # noqa: S608  # StreamSQL, and quoted
    told = answer(compile_query(text, CATALOG), owner.share)
    samples = tuple(Sample(float(at_s or 0), float(value or 0)) for at_s, value in told.rows)
    return Hour(
        sid,
        kind.name,
        kind.unit,
        sensor.simulated,
        sensor.period_s,
        told.at_s - CATALOG.get("past_reading").ttl_s,
        told.at_s,
        samples,
    )
