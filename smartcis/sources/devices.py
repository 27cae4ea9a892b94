"""Devices: what they measured, as readings of sensors that are placed; the others are listed.

measured ─┬─ there is such a sensor ── its kind's unit and range ──> readings
└─ there is none ──────────────────────────────────────> SeenDevice
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.db import transaction

from aspen.errors import AspenError
from aspen.model.schema import Value
from aspen.motes.kinds import DeviceKind
from smartcis.ingest.readings import sensors_by_id, validate
from smartcis.ingest.valid import ValidReading
from smartcis.models.devices import NAME_LENGTH, SeenDevice
from smartcis.models.sensor_kinds import kind_among, kinds_of
from smartcis.models.wrapped import Source
from smartcis.readings.errors import BadReading
from smartcis.readings.times import PAST_S
from smartcis.readings.units import converted
from smartcis.wrappers.payloads.mapping import SID_LENGTH
from smartcis.wrappers.protocol import Measured, Measurements

NOTED_S = 2.0  # a device that speaks more often is noted so often
KEPT = 1_000  # devices of a source; those longest silent make room
QUANTITIES_KEPT = 50
DIGEST_LENGTH = 10
_STRANGE = re.compile(r"[^\w.:-]+")


@dataclass(frozen=True, slots=True)
class Taken:
    """What came of a message.

    Args:
        valid: readings, ready for their streams.
        fault: what is wrong with the first value that cannot be used.
    """

    valid: Sequence[ValidReading]
    fault: AspenError | None


@dataclass(slots=True)
class Devices:
    """The devices of one source, as one process hears them."""

    _noted_s: dict[tuple[str, str], float] = field(default_factory=dict)

    def sort(self, source: str, batch: Measurements, now_s: float) -> Taken:
        """Checks what belongs to sensors, and notes what belongs to none."""
        said = {
            (one.sid or sid_of(source, one.device, one.quantity), one.at_s): one
            for one in batch.measured
        }
        sensors = sensors_by_id({sid for sid, _ in said})
        kinds = kinds_of(str(one["kind"]) for one in sensors.values())
        valid: list[ValidReading] = []
        faults: list[AspenError] = []
        strange: dict[str, Measured] = {}
        for (sid, _), one in said.items():
            if sid not in sensors:
                if one.quantity:
                    strange[sid] = one
                else:
                    faults.append(BadReading("there is no such sensor", found=sid[:80]))
                continue
            at_s = _at_s(one, batch, now_s)
            if at_s is None:
                continue
            try:
                valid += _valid(sid, one, at_s, sensors, kinds, now_s)
            except AspenError as fault:
                faults.append(fault)
        self._note(source, strange, batch.arrived_s)
        return Taken(valid, faults[0] if faults else None)

    def _note(self, source: str, strange: Mapping[str, Measured], now_s: float) -> None:
        devices: dict[str, dict[str, Measured]] = {}
        for sid, one in strange.items():
            if now_s >= self._noted_s.get((one.device, one.quantity), 0.0) + NOTED_S:
                devices.setdefault(one.device, {})[sid] = one
        for device, measured in devices.items():
            _keep(source, device, measured, now_s)
            self._noted_s |= {(device, one.quantity): now_s for one in measured.values()}
        if len(self._noted_s) > KEPT * QUANTITIES_KEPT:
            self._noted_s.clear()


def sid_of(source: str, device: str, quantity: str) -> str:
    """Returns the id of the sensor of a device for a quantity: legible, and no other one's."""
    plain = f"{source}:{device}:{quantity}"
    sid = _STRANGE.sub("_", plain)
    if sid == plain and len(sid) <= SID_LENGTH:
        return sid
    digest = hashlib.sha256(plain.encode(errors="replace")).hexdigest()[:DIGEST_LENGTH]
    return f"{sid[: SID_LENGTH - DIGEST_LENGTH - 1]}-{digest}"


def _at_s(one: Measured, batch: Measurements, now_s: float) -> float | None:
    """Returns when it was measured, None for what a broker kept too long, or without a time."""
    if not batch.retained:
        return batch.arrived_s if one.at_s is None else one.at_s
    return one.at_s if one.at_s is not None and now_s - one.at_s < PAST_S else None


def _valid(
    sid: str,
    one: Measured,
    at_s: float,
    sensors: Mapping[str, Mapping[str, Value]],
    kinds: Mapping[str, DeviceKind],
    now_s: float,
) -> list[ValidReading]:
    kind = kind_among(kinds, str(sensors[sid]["kind"]))
    if one.quantity and kind.key != one.quantity:
        raise BadReading(f"sensor {sid} is of another kind", found=one.quantity, exists=[kind.key])
    value = converted(one.value, one.unit, kind.unit)
    reading = {"sid": sid, "value": value, "unit": kind.unit, "at_s": at_s}
    return validate([reading], sensors, kinds, now_s=now_s)


@transaction.atomic
def _keep(source: str, device: str, measured: Mapping[str, Measured], now_s: float) -> None:
    """Notes what a device measured last; a source that is gone has none."""
    if not Source.objects.select_for_update().filter(pk=source).exists():
        return
    first = next(iter(measured.values()))
    seen, new = SeenDevice.objects.get_or_create(
        source_id=source,
        device=device[:NAME_LENGTH],
        defaults={"first_s": now_s, "heard_s": now_s},
    )
    seen.longest_s = max(seen.longest_s, now_s - seen.heard_s)
    seen.heard_s, seen.name = now_s, first.name[:NAME_LENGTH] or seen.name
    for sid, one in measured.items():
        if one.quantity in seen.quantities or len(seen.quantities) < QUANTITIES_KEPT:
            seen.quantities[one.quantity] = {
                "sid": sid,
                "value": one.value,
                "unit": one.unit,
                "at_s": now_s if one.at_s is None else one.at_s,
            }
    seen.save()
    if new:
        mine = SeenDevice.objects.filter(source_id=source)
        gone = list(mine.order_by("-heard_s").values_list("pk", flat=True)[KEPT:])
        mine.filter(pk__in=gone).delete()
