"""Readings: validated against their sensors, appended to the log as one transaction.

Law: a call appends all its readings or none.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from aspen.errors import AspenError
from aspen.log.entry import Change, Transaction
from aspen.log.redis_log import RedisLog
from aspen.model.schema import SchemaError, Value
from aspen.motes.kinds import DeviceKind
from smartcis.catalog import CATALOG
from smartcis.ingest.hour import Sampling
from smartcis.ingest.valid import ValidReading
from smartcis.models import Sensor
from smartcis.models.sensor_kinds import CODED, kind_among, kinds_of
from smartcis.readings.errors import BadReading, BadUnit, ImpossibleValue, UnknownSensor
from smartcis.readings.times import check_time, measured_s

LATE_S = 10.0  # a broker or gateway kept it: it counts from when it was measured
READINGS_AT_ONCE = 5_000
FIELDS = ("sid", "value", "unit", "at", "at_s", "tag")
TAG_LENGTH = 64
_SAMPLING = Sampling()


def append_readings(
    log: RedisLog,
    readings: Sequence[Any],
    *,
    key: str = "",
    digest: str = "",
    now_s: float | None = None,
) -> int:
    """Validates readings and appends them, all or none.

    Those that come as they are measured are one transaction. One that somebody kept for a while
    has the log time of its measurement, or a window would show it as fresh.

    Args:
        log: where they go.
        readings: mappings `{sid, value, unit, at | at_s, tag?}`; `at` is ISO 8601 with a zone,
            `at_s` seconds since the epoch; `tag` only for rfid.
        key: idempotency key, for a gateway that repeats an unanswered call.
        digest: of what was sent under the key, if it may stand for nothing else.
        now_s: the wall clock, seconds since the epoch.

    Returns:
        The log position.

    Raises:
        BadReading: naming the index of the first bad one; nothing was appended.
        KeyReused: another digest came under the key; nothing was appended.
    """
    now_s = time.time() if now_s is None else now_s
    sensors = sensors_by_id(named(readings))
    kinds = kinds_of(str(one["kind"]) for one in sensors.values())
    valid = validate(readings, sensors, kinds, now_s=now_s)
    entries = transactions(with_past(valid), now_s)
    return log.append(entries, key=f"readings:{key}" if key else "", digest=digest)


def with_past(readings: Sequence[ValidReading]) -> list[ValidReading]:
    """Returns readings, and the rows by which some of them are remembered for an hour."""
    return [*readings, *_SAMPLING.of(readings)]


def transactions(readings: Sequence[ValidReading], now_s: float) -> list[Transaction]:
    """Groups rows of streams by the log time they count from, oldest first."""
    groups: dict[float, list[Change]] = {}
    for reading in readings:
        late = now_s - reading.at_s > LATE_S
        at_s = float(math.floor(reading.at_s)) if late else now_s
        groups.setdefault(at_s, []).append(Change(reading.relation, 1, reading.row))
    return [Transaction(at_s, tuple(changes)) for at_s, changes in sorted(groups.items())]


def named(readings: Any) -> set[str]:
    """Returns the sensors that readings name, as far as they are readings at all."""
    if not isinstance(readings, list | tuple):
        return set()
    found = (r.get("sid") for r in readings[:READINGS_AT_ONCE] if isinstance(r, Mapping))
    return {sid for sid in found if isinstance(sid, str)}


def validate(
    readings: Sequence[Any],
    sensors: Mapping[str, Mapping[str, Value]],
    kinds: Mapping[str, DeviceKind] = CODED,
    *,
    now_s: float,
) -> list[ValidReading]:
    """Checks every reading against its sensor.

    Args:
        readings: see `append_readings`.
        sensors: by sid, as rows of the relation `sensor`.
        kinds: of these sensors, by key.
        now_s: the wall clock, seconds since the epoch.

    Raises:
        BadReading: naming the index of the first bad one.
    """
    if not isinstance(readings, list | tuple) or not readings:
        raise BadReading(
            "readings are a list of at least one",
            found=type(readings).__name__ if readings else "nothing",
            exists=FIELDS,
        )
    if len(readings) > READINGS_AT_ONCE:
        raise BadReading(
            f"at most {READINGS_AT_ONCE} readings at once",
            found=str(len(readings)),
            attempt="send them in several calls",
        )
    valid = []
    for index, reading in enumerate(readings):
        try:
            valid.append(_validated(reading, sensors, kinds, now_s=now_s))
        except AspenError as error:
            kind = type(error) if isinstance(error, BadReading) else BadReading
            raise kind(
                f"reading {index}: {error.message}",
                found=error.found,
                exists=error.exists,
                attempt=error.attempt,
            ) from error
    return valid


def sensors_by_id(wanted: set[str]) -> dict[str, dict[str, Value]]:
    """Reads sensors as rows of the relation `sensor`, by sid."""
    names = CATALOG.get("sensor").names
    found: dict[str, dict[str, Value]] = {}
    for sensor in Sensor.objects.select_related(*Sensor.rows_need).filter(sid__in=wanted):
        for relation, row in sensor.rows():
            if relation == "sensor":
                found[str(row[0])] = dict(zip(names, row, strict=True))
    return found


def _validated(
    reading: Any,
    sensors: Mapping[str, Mapping[str, Value]],
    kinds: Mapping[str, DeviceKind],
    *,
    now_s: float,
) -> ValidReading:
    if not isinstance(reading, Mapping):
        raise BadReading("not an object", found=type(reading).__name__, exists=FIELDS)
    for field in reading:
        if field not in FIELDS:
            raise BadReading(f"unknown field {field[:40]!r}", found=field[:40], exists=FIELDS)
    sid = reading.get("sid")
    sensor = sensors.get(sid) if isinstance(sid, str) else None
    if sensor is None:
        raise _unknown(sid, sensors)
    kind = kind_among(kinds, str(sensor["kind"]))
    stream = CATALOG.get(kind.stream)
    unit = reading.get("unit")
    if unit != kind.unit:
        raise BadUnit(
            f"{kind.key} sensors report in {kind.unit}",
            found="no unit" if unit is None else str(unit)[:40],
            exists=[kind.unit],
            attempt=f"convert to {kind.unit}",
        )
    value, at_s = _number(reading.get("value"), kind), measured_s(reading)
    check_time(at_s, now_s)
    values: dict[str, Value] = {**sensor, kind.measures: value, "unit": kind.unit, "at_s": at_s}
    if "tag" in stream.names:
        values["tag"] = _tag(reading.get("tag"))
    elif "tag" in reading:
        raise BadReading(f"{kind.key} sensors hear no tags", found="tag")
    row = tuple(values[name] for name in stream.names)
    try:
        stream.check(row)
    except SchemaError as error:
        raise BadReading(
            f"sensor {sid} is not placed where a {kind.key} sensor must be: {error.message}",
            attempt="set its machine or room",
        ) from error
    return ValidReading(stream.name, row, float(row[stream.index("at_s")] or 0.0))


def _unknown(sid: object, sensors: Mapping[str, object]) -> UnknownSensor:
    return UnknownSensor(
        f"there is no sensor {str(sid)[:40]!r}" if sid is not None else "a reading needs a sid",
        found=str(sid)[:40],
        exists=get_close_matches(str(sid), list(sensors), n=3),
        attempt="see /api/v1/sensors/",
    )


def _number(value: object, kind: DeviceKind) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ImpossibleValue("value must be a finite number", found=repr(value)[:40])
    if not kind.least <= value <= kind.greatest:
        raise ImpossibleValue(
            f"a {kind.key} sensor cannot report this",
            found=f"{value} {kind.unit}",
            exists=[f"{kind.least} to {kind.greatest} {kind.unit}"],
        )
    return float(value)


def _tag(tag: object) -> str:
    if not isinstance(tag, str) or not 1 <= len(tag) <= TAG_LENGTH:
        raise BadReading("an rfid reading needs the tag it heard", found=repr(tag)[:40])
    return tag
