"""Sensor kinds as rows: which stream a kind feeds, in which unit, within which range."""

from __future__ import annotations

from dataclasses import dataclass

from aspen.model.schema import Relation
from smartcis.catalog import STREAMS


@dataclass(frozen=True, slots=True)
class ReadingKind:
    """What a reading of one kind of sensor must look like.

    Args:
        key: the sensor's kind.
        stream: the relation its readings join.
        value_column: the measured quantity in that relation.
        unit: the only unit accepted, that of the column.
        lowest: smallest believable value, in `unit`.
        highest: largest believable value, in `unit`.
    """

    key: str
    stream: Relation
    value_column: str
    unit: str
    lowest: float
    highest: float


def _kind(key: str, value_column: str, lowest: float, highest: float) -> ReadingKind:
    (stream,) = (relation for relation in STREAMS if relation.device == key)
    column = stream.columns[stream.index(value_column)]
    return ReadingKind(key, stream, value_column, column.unit, lowest, highest)


# Ranges: what a device of the kind can report at all; beyond them it is broken or mislabelled.
KINDS: dict[str, ReadingKind] = {
    kind.key: kind
    for kind in (
        _kind("seat", "weight_kg", -1.0, 500.0),  # an empty seat's load cell drifts below zero
        _kind("light", "lux", 0.0, 200_000.0),  # direct sun is about 130,000 lx
        _kind("temperature", "celsius", -60.0, 150.0),
        _kind("cpu", "cpu_pct", 0.0, 100.0),
        _kind("rfid", "rssi_dbm", -150.0, 20.0),
        _kind("energy", "watts", 0.0, 10_000.0),
        _kind("door", "ajar", 0.0, 1.0),
    )
}
