"""Sensors: on every machine, in every machine room, along the corridors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import Any

from aspen.motes.kinds import device_kind
from sensors_sim.waveforms import checked
from smartcis.importers.seed.missing import add_missing
from smartcis.importers.seed.spread import apart_m, far_apart, spaced
from smartcis.models import Machine, RegionSeed, RoutingNode, Sensor, Unit

REGION_REACH_M = 20.0  # k of the seeds: sensors nearer than this can form one region
LEAST_NEIGHBOURS = 3
TEMPERATURE_EVERY_M = 14.0  # well below k, so that neighbouring sensors form one region
RECEIVER_EVERY_M = 15.0  # about 50 feet, as in the seeds' hallways
SEAT_PERIOD_S = CPU_PERIOD_S = 15.0
METER_PERIOD_S = 30.0
ROOM_PERIOD_S = 15.0
CORRIDOR_PERIOD_S = 20.0
LIT_LX, DARK_LX = 420.0, 6.0
DARK_ONE_IN = 7  # one machine room in so many is dark now and then
WARM_MIDDLE_C, WARM_SWING_C = 23.6, 3.6  # crosses the regions' threshold of 26 °C
WARM_CYCLE_S = 900.0
DAMP_MIDDLE_PCT, DAMP_SWING_PCT = 46.0, 9.0
WAVE_LENGTH_M = 140.0  # warmth travels through the building as a wave this long


def seed_sensors(rooms: Sequence[Unit], rng: Random) -> int:
    """Creates the sensors that are missing; returns how many."""
    machines = list(Machine.objects.filter(simulated=True).select_related("unit", "node"))
    wanted = [
        *_machine_sensors(machines),
        *_room_sensors(rooms, rng),
        *_corridor_sensors(rooms),
        *_receivers(),
    ]
    return add_missing(Sensor, wanted)


def seed_regions(count: int) -> int:
    """Seeds regions at far-apart temperature sensors; returns how many seeds are new."""
    sensors = Sensor.objects.filter(kind="temperature", simulated=True).select_related("level")
    spots = list(sensors.order_by("sid"))
    # A region needs neighbours to grow into.
    crowded = [one for one in spots if _neighbours(one, spots) >= LEAST_NEIGHBOURS] or spots
    chosen = enumerate(far_apart(crowded, count), start=1)
    wanted = [RegionSeed(region_id=f"region-{number}", sensor=one) for number, one in chosen]
    return add_missing(RegionSeed, wanted, key="region_id")


def _neighbours(spot: Sensor, spots: Sequence[Sensor]) -> int:
    here = (one for one in spots if one is not spot and one.level_id == spot.level_id)
    return sum(apart_m(one, spot) < REGION_REACH_M for one in here)


def _sensor(
    sid: str,
    kind: str,
    node: RoutingNode,
    waveform: str,
    period_s: float,
    parameters: dict[str, Any],
    machine: Machine | None = None,
) -> Sensor:
    return Sensor(
        sid=sid,
        kind=kind,
        unit_id=node.unit_id,
        machine=machine,
        level_id=node.level_id,
        node=node,
        x_m=node.x_m,
        y_m=node.y_m,
        waveform=waveform,
        parameters=checked(waveform, device_kind(kind), parameters),
        period_s=period_s,
    )


def _machine_sensors(machines: Sequence[Machine]) -> list[Sensor]:
    return [
        _sensor(f"{one.mid}.{kind}", kind, one.node, "people", period_s, {}, one)
        for one in machines
        for kind, period_s in (
            ("seat", SEAT_PERIOD_S),
            ("cpu", CPU_PERIOD_S),
            ("energy", METER_PERIOD_S),
        )
    ]


def _room_sensors(rooms: Sequence[Unit], rng: Random) -> list[Sensor]:
    found = []
    for index, room in enumerate(rooms):
        centre = _centre(room)
        phase_s = round(rng.uniform(0, 1200), 1)
        waveform, parameters = "constant", {"value": LIT_LX, "noise": 8.0}
        if index % DARK_ONE_IN == DARK_ONE_IN - 1:
            waveform = "square"
            parameters = {
                "high": LIT_LX,
                "low": DARK_LX,
                "cycle_s": 1200.0,
                "share": 0.75,
                "phase_s": phase_s,
                "noise": 1.5,
            }
        sid = f"{room.rid}.light"
        light = _sensor(sid, "light", centre, waveform, ROOM_PERIOD_S, parameters)
        found += [light, _thermometer(centre, ROOM_PERIOD_S), _hygrometer(centre, phase_s)]
    return found


def _thermometer(node: RoutingNode, period_s: float) -> Sensor:
    """Measures a warm front that crosses the building, a little later further on."""
    lag = (node.x_m * math.cos(0.5) + node.y_m * math.sin(0.5)) / WAVE_LENGTH_M % 1.0
    parameters = {
        "middle": WARM_MIDDLE_C,
        "amplitude": WARM_SWING_C,
        "cycle_s": WARM_CYCLE_S,
        "phase_s": round(lag * WARM_CYCLE_S, 1),
        "noise": 0.05,
    }
    stem = node.unit_id if node.kind == "centre" else f"{node.unit_id}.{node.node}"
    return _sensor(f"{stem}.temperature", "temperature", node, "sine", period_s, parameters)


def _hygrometer(node: RoutingNode, phase_s: float) -> Sensor:
    """Measures air that gets damper while people are there, and is aired now and then."""
    parameters = {
        "middle": DAMP_MIDDLE_PCT,
        "amplitude": DAMP_SWING_PCT,
        "cycle_s": WARM_CYCLE_S,
        "phase_s": phase_s,
        "noise": 0.3,
    }
    sid = f"{node.unit_id}.humidity"
    return _sensor(sid, "humidity", node, "sine", ROOM_PERIOD_S, parameters)


def _centre(room: Unit) -> RoutingNode:
    return room.nodes.select_related("level").get(kind="centre", simulated=False)


def _hallway_nodes() -> list[RoutingNode]:
    nodes = RoutingNode.objects.filter(
        simulated=False,
        unit__category="walkway",
        unit__unreached="",
        kind__in=("centre", "turn"),
    ).select_related("level", "unit")
    # Middles first: they are where a person would hang a device.
    return sorted(nodes, key=lambda n: (n.kind != "centre", n.unit.derived, n.node))


def _corridor_sensors(rooms: Sequence[Unit]) -> list[Sensor]:
    chosen = spaced(_hallway_nodes(), TEMPERATURE_EVERY_M, [_centre(room) for room in rooms])
    return [_thermometer(node, CORRIDOR_PERIOD_S) for node in chosen]


def _receivers() -> list[Sensor]:
    return [
        _sensor(f"rfid.{node.node}", "rfid", node, "people", 1.0, {})
        for node in spaced(_hallway_nodes(), RECEIVER_EVERY_M)
    ]
