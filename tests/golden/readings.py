"""Border 7 as text: a small world, turned by hand, and the readings it gives.

point 1 L0 0 0                                  a walking point
step 1 2 20000 door=d1                          an edge, both ways, in millimetres
sensor m1.seat seat people mid=m1 every=10      values of the waveform as name=value
visitor tag-a 1.2                               metres per second
lock d1
acquire seat_reading                            streams somebody wants; all if absent
run 60 seed=7                                   seconds
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from aspen.motes.kinds import device_kind
from sensors_sim.kernel import Kernel
from sensors_sim.waveforms import checked
from sensors_sim.world import PathEdge, Reading, SensorSpec, Spot, VisitorSpec, World

OWN = {"mid", "every", "at"}


def trace(text: str) -> str:
    """Run a scenario; give one reading per line."""
    spots: dict[int, Spot] = {}
    steps: dict[int, list[PathEdge]] = defaultdict(list)
    sensors, visitors, locked = [], [], set()
    acquire: frozenset[str] | None = None
    seconds, seed = 0.0, 0
    for line in filter(None, map(str.strip, text.splitlines())):
        verb, *words = line.split()
        plain = [word for word in words if "=" not in word]
        given = dict(word.split("=", 1) for word in words if "=" in word)
        match verb:
            case "point":
                spots[int(plain[0])] = Spot(plain[1], float(plain[2]), float(plain[3]))
            case "step":
                one, other, length_mm = map(int, plain)
                steps[one].append(PathEdge(other, length_mm, given.get("door", "")))
                steps[other].append(PathEdge(one, length_mm, given.get("door", "")))
            case "sensor":
                sensors.append(_sensor(plain, given, spots))
            case "visitor":
                visitors.append(VisitorSpec(plain[0], float(plain[1])))
            case "lock":
                locked.add(plain[0])
            case "acquire":
                acquire = frozenset(plain)
            case "run":
                seconds, seed = float(plain[0]), int(given["seed"])
            case _:
                raise AssertionError(f"no such verb: {line}")
    world = World(
        tuple(sensors),
        tuple(visitors),
        spots,
        {src: tuple(leaving) for src, leaving in steps.items()},
        frozenset(locked),
    )
    return "".join(map(show, Kernel(world, seed, acquire).tick(seconds)))


def show(reading: Reading) -> str:
    """Print one reading."""
    line = f"{reading.at_s:8.3f}  {reading.sid:<8} {reading.value:>8} {reading.unit:<3}"
    return f"{line} {reading.tag}".rstrip() + "\n"


def _sensor(plain: list[str], given: dict[str, str], spots: dict[int, Spot]) -> SensorSpec:
    sid, kind, shape = plain
    node = int(given.get("at", 0))
    spot = spots.get(node, Spot("L0", 0.0, 0.0))
    values: dict[str, Any] = {
        name: [float(one) for one in value.split(",")] if name == "values" else float(value)
        for name, value in given.items()
        if name not in OWN
    }
    device = device_kind(kind)
    return SensorSpec(
        sid,
        kind,
        node,
        spot.level,
        spot.x_m,
        spot.y_m,
        shape,
        checked(shape, device, values),
        float(given.get("every", device.period_s)),
        given.get("mid", ""),
    )
