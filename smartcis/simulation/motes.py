"""Motes: the building's sensors and walls as the radio network takes them.

Battery motes hang on seats and in rooms; the hallway receivers listen for tags all day, so they
are wired, never sleep, and carry the traffic. A base station stands at every so many metres of
hallway. Processor sensors are programs on wired machines: no motes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from aspen.model.schema import Value
from aspen.motes.hardware import WAKE_S
from aspen.motes.kinds import PowerSource, device_kind
from sensors_sim.motes import (
    Attached,
    Field,
    MoteSpec,
    Wall,
    base_station,
    walls_of,
)
from sensors_sim.world import SensorSpec
from smartcis.models import Level, Sensor, Unit
from smartcis.placements.device_streams import DEVICE_STREAMS, on_air, stream_of

BASE_EVERY_M = 90.0


def walls() -> tuple[Wall, ...]:
    """Returns every wall of every level, shared ones once."""
    found: list[Wall] = []
    for level in Level.objects.order_by("ordinal"):
        polygons = (
            Unit.objects.filter(level=level).order_by("rid").values_list("polygon", flat=True)
        )
        found += walls_of(level.level_id, [ring for polygon in polygons for ring in polygon])
    return tuple(found)


def mote_specs(sensors: Mapping[str, SensorSpec]) -> dict[str, MoteSpec]:
    """Describes the motes of sensors, one each.

    Args:
        sensors: by id, those that are switched on.
    """
    levels = Level.objects.values_list("level_id", "ordinal")
    storeys = {level: math.floor(ordinal) for level, ordinal in levels}
    rooms = dict(Sensor.objects.filter(sid__in=sensors).values_list("sid", "unit_id"))
    found = {}
    for sid, spec in sensors.items():
        if on_air(spec.kind):
            found[sid] = _mote(spec, rooms.get(sid) or "", storeys.get(spec.level, 0))
    return found


def _mote(spec: SensorSpec, rid: str, storey: int) -> MoteSpec:
    stream = stream_of(spec.kind)
    known: dict[str, Value] = {"sid": spec.sid, "rid": rid, "mid": spec.mid, "node": spec.node}
    fixed = {name: known[name] for name in DEVICE_STREAMS[stream].fixed}
    attached = Attached(spec.sid, stream, fixed)
    described = (spec.sid, spec.x_m, spec.y_m, spec.level, storey, (attached,))
    if device_kind(spec.kind).power is PowerSource.MAINS:
        return MoteSpec(*described, wake_s=0.0, battery_mj=math.inf)
    return MoteSpec(*described, wake_s=WAKE_S)


def base_stations(motes: Mapping[str, MoteSpec]) -> tuple[MoteSpec, ...]:
    """Puts base stations beside wired receivers, so that none is far from one on its level.

    Where a level has no receiver, beside any mote.
    """
    found: list[MoteSpec] = []
    for level in sorted({mote.level for mote in motes.values()}):
        here = [motes[sid] for sid in sorted(motes) if motes[sid].level == level]
        wired = [mote for mote in here if mote.powered] or here
        chosen: list[MoteSpec] = []
        while wired:
            farthest = max(wired, key=lambda mote: (_away_m(mote, chosen), mote.mote))
            if chosen and _away_m(farthest, chosen) <= BASE_EVERY_M:
                break
            chosen.append(farthest)
        found += [
            base_station(f"base.{level}.{n}", one.x_m, one.y_m, level, one.storey)
            for n, one in enumerate(chosen, start=1)
        ]
    return tuple(found)


def _away_m(mote: MoteSpec, chosen: list[MoteSpec]) -> float:
    return min(
        (math.dist((mote.x_m, mote.y_m), (one.x_m, one.y_m)) for one in chosen),
        default=math.inf,
    )


def field(sensors: Mapping[str, SensorSpec]) -> Field:
    """Describes the radio network of the building."""
    motes = mote_specs(sensors)
    return Field((*base_stations(motes), *motes.values()), walls(), DEVICE_STREAMS)
