"""Sensor kinds as rows: which stream a kind feeds, in which unit, within which range."""

from __future__ import annotations

from dataclasses import dataclass

from aspen.model.schema import Relation
from aspen.motes.kinds import DEVICE_KINDS, DeviceKind
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


def _kind(kind: DeviceKind) -> ReadingKind:
    (stream,) = (relation for relation in STREAMS if relation.device == kind.key)
    return ReadingKind(kind.key, stream, kind.measures, kind.unit, kind.least, kind.greatest)


KINDS: dict[str, ReadingKind] = {kind.key: _kind(kind) for kind in DEVICE_KINDS}
