"""Fields and queries for bench `federation`: rooms of sensors in three sizes, and what is asked.

54 motes stand where those of the Intel lab stood; 200 and 1,000 are strewn over offices as dense.
Each room has a light and a temperature sensor and a few seats, one mote each, radios at −25 dBm, so
that a frame reaches the rooms around and no further.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from random import Random

from aspen.model.catalog import Catalog
from aspen.model.schema import Column, Relation, Row, SourceKind, Type, Value
from aspen.motes.hardware import WAKE_S
from sensors_sim.motes import Attached, DeviceStream, Field, MoteSpec, base_station
from sensors_sim.network.links import Radio
from tests.motes.office import intel_lab

LAB_MOTES = 54
AREA_PER_MOTE_M2 = 24.0  # as in the Intel lab: 41 m by 31 m
MOTES_PER_BASE = 250
ROOM_MOTES = 6
RADIO = Radio(power_dbm=-25, range_m=30.0)
SEAT, LIGHT, TEMPERATURE = "seat_reading", "light_reading", "temperature_reading"
KINDS = (LIGHT, TEMPERATURE, SEAT)
RANGES = {SEAT: (0, 1000, 10), LIGHT: (0, 600, 1), TEMPERATURE: (1500, 3000, 100)}

Place = tuple[float, float]


def _stream(name: str, device: str, measured: Column, decimals: int) -> DeviceStream:
    columns = (
        Column("sid", Type.TEXT),
        Column("rid", Type.TEXT),
        Column("mid", Type.TEXT),
        Column("x_m", Type.FLOAT, "m"),
        Column("y_m", Type.FLOAT, "m"),
        measured,
        Column("at_s", Type.FLOAT, "s"),
    )
    relation = Relation(name, columns, SourceKind.STREAM, ("sid",), device=device)
    return DeviceStream(relation, (measured.name,), decimals={measured.name: decimals})


STREAMS = {
    SEAT: _stream(SEAT, "seat", Column("weight_kg", Type.FLOAT, "kg"), 1),
    LIGHT: _stream(LIGHT, "light", Column("lux", Type.FLOAT, "lx"), 0),
    TEMPERATURE: _stream(TEMPERATURE, "temperature", Column("celsius", Type.FLOAT, "°C"), 2),
}
CATALOG = Catalog.of([one.relation for one in STREAMS.values()])


@dataclass(frozen=True, slots=True)
class Asked:
    """A query.

    Args:
        sql: with a blank for its sources' windows, `{w}`.
        turned: the same with the join's inputs the other way round; empty if that says nothing.
        selective: whether its predicates keep little.
        everywhere: whether it is asked in the greatest field too.
    """

    name: str
    sql: str
    turned: str = ""
    selective: bool = True
    everywhere: bool = True

    @staticmethod
    def text(sql: str) -> str:
        """Returns the text with its windows: the newest row of every sensor."""
        return sql.replace("{w}", "[PARTITION BY sid ROWS 1]")


EXAMPLE_14 = (
    "SELECT s.mid, s.rid FROM seat_reading {w} s, light_reading {w} l "
    "WHERE s.rid = l.rid AND s.weight_kg < ?seat AND l.lux >= ?light"
)
TURNED_14 = (
    "SELECT s.mid, s.rid FROM light_reading {w} l, seat_reading {w} s "
    "WHERE s.rid = l.rid AND s.weight_kg < ?seat AND l.lux >= ?light"
)
COMFORT = (
    "SELECT s.mid, l.lux, t.celsius "
    "FROM seat_reading {w} s, light_reading {w} l, temperature_reading {w} t "
    "WHERE s.rid = l.rid AND l.rid = t.rid AND s.weight_kg >= ?seat AND l.lux >= ?light"
)
REGION = (  # sensors up to 6 m apart are neighbours
    "SELECT a.sid AS one, b.sid AS other FROM seat_reading {w} a, seat_reading {w} b "
    "WHERE a.weight_kg >= ?seat AND b.weight_kg >= ?seat AND a.sid <> b.sid "
    "AND (a.x_m - b.x_m) * (a.x_m - b.x_m) + (a.y_m - b.y_m) * (a.y_m - b.y_m) <= 36.0"
)


def _asked(
    name: str, sql: str, seat: str, light: str = "", turned: str = "", *, selective: bool = True
) -> Asked:
    one, other = (text.replace("?seat", seat).replace("?light", light) for text in (sql, turned))
    return Asked(name, one, other, selective, everywhere=selective)


QUERIES = (
    _asked("example 14, few free seats", EXAMPLE_14, "15.0", "450.0", TURNED_14),
    _asked("example 14, most free", EXAMPLE_14, "80.0", "450.0", TURNED_14, selective=False),
    _asked("example 14, all pass", EXAMPLE_14, "101.0", "0.0", TURNED_14, selective=False),
    _asked("seat/light/temperature, selective", COMFORT, "90.0", "500.0"),
    _asked("seat/light/temperature, broad", COMFORT, "20.0", "100.0", selective=False),
    _asked("region, few triggered", REGION, "85.0"),
    _asked("region, most triggered", REGION, "30.0", selective=False),
    Asked(
        "mean temperature by room",
        "SELECT t.rid, AVG(t.celsius) AS mean FROM temperature_reading {w} t GROUP BY t.rid",
        selective=False,
        everywhere=False,
    ),
    Asked(
        "greatest weight of all",
        "SELECT MAX(s.weight_kg) AS most, COUNT(*) AS n FROM seat_reading {w} s",
        selective=False,
    ),
    Asked(
        "free seats, few",
        "SELECT COUNT(*) AS n FROM seat_reading {w} s WHERE s.weight_kg < 10.0",
    ),
)


def office(motes: int, seed: int, wake_s: float = WAKE_S) -> Field:
    """Build a field; base stations are counted beside the motes."""
    rng = Random(seed)
    if motes == LAB_MOTES:
        places = [(x_m, y_m) for _, x_m, y_m in intel_lab()]
    else:
        wide_m = math.sqrt(motes * AREA_PER_MOTE_M2)
        places = [(rng.uniform(0, wide_m), rng.uniform(0, wide_m)) for _ in range(motes)]
    specs = []
    for number, room in enumerate(rooms(places)):
        for seat, (x_m, y_m) in enumerate(room):
            stream = KINDS[min(seat, len(KINDS) - 1)]
            sid = f"{stream[0]}{number}.{seat}"
            attributes: dict[str, Value] = {
                "sid": sid,
                "rid": f"R{number}",
                "mid": f"m{number}.{seat}",
                "x_m": x_m,
                "y_m": y_m,
            }
            on_it = (Attached(sid, stream, attributes),)
            specs.append(MoteSpec(sid, x_m, y_m, "L0", 0, on_it, wake_s=wake_s))
    return Field((*_bases(places), *specs), (), STREAMS)


def rooms(places: Sequence[Place]) -> list[list[Place]]:
    """Part places into rooms of at most six, halving the longer side."""
    if len(places) <= ROOM_MOTES:
        return [list(places)]
    spans = [max(p[axis] for p in places) - min(p[axis] for p in places) for axis in (0, 1)]
    axis = spans.index(max(spans))
    ordered = sorted(places, key=lambda place: (place[axis], place))
    half = len(ordered) // 2
    return rooms(ordered[:half]) + rooms(ordered[half:])


def _bases(places: Sequence[Place]) -> list[MoteSpec]:
    """Put base stations at the edge of one office, in the middle of each part of a greater one."""
    parts = [list(places)]
    while len(places) / len(parts) > MOTES_PER_BASE:
        parts = [half for part in parts for half in _halves(part)]
    found = []
    for number, part in enumerate(parts):
        x_m = sum(p[0] for p in part) / len(part)
        y_m = sum(p[1] for p in part) / len(part)
        if len(parts) == 1:
            x_m = min(p[0] for p in part)
        found.append(base_station(f"base{number}", x_m, y_m, "L0"))
    return found


def _halves(places: Sequence[Place]) -> list[list[Place]]:
    spans = [max(p[axis] for p in places) - min(p[axis] for p in places) for axis in (0, 1)]
    axis = spans.index(max(spans))
    ordered = sorted(places, key=lambda place: (place[axis], place))
    return [ordered[: len(ordered) // 2], ordered[len(ordered) // 2 :]]


class Hashed:
    """A world whose values depend on the sensor, the epoch and a seed alone.

    Args:
        period_s: values change so often.
        cycle: after so many epochs they begin again, so that spans of that length are alike.
    """

    def __init__(self, field: Field, seed: int, period_s: float, cycle: int) -> None:
        self._seed = seed
        self._period_s = period_s
        self._cycle = cycle
        self._streams = streams_of(field)
        self._orders: dict[str, list[int]] = {}

    def sample(self, sid: str, at_s: float) -> Sequence[Row]:
        """Measure now."""
        return [(self.value(sid, round(at_s / self._period_s)),)]

    def value(self, sid: str, epoch: int) -> float:
        """Returns what a sensor measures at an epoch."""
        low, high, scale = RANGES[self._streams[sid]]
        text = f"{self._seed}/{sid}/{epoch % self._cycle}".encode()
        digest = blake2b(text, digest_size=4).digest()
        return (low + int.from_bytes(digest, "big") % (high - low)) / scale


class Even(Hashed):
    """A world where each sensor measures its range evenly in a cycle, in an order of chance.

    Law: in a cycle of n epochs each n-th part of a sensor's range is measured once, so what part of
    its rows passes a comparison is nearly that of all sensors.
    Source: McKay, Beckman, Conover: Comparison of Three Methods for Selecting Values, 1979.
    """

    def value(self, sid: str, epoch: int) -> float:
        """Returns what a sensor measures at an epoch."""
        low, high, scale = RANGES[self._streams[sid]]
        order = self._orders.get(sid)
        if order is None:
            order = self._orders[sid] = list(range(self._cycle))
            Random(f"{self._seed}/{sid}").shuffle(order)
        part = order[epoch % self._cycle]
        inside = Random(f"{self._seed}/{sid}/{part}").random()
        return (low + int((part + inside) * (high - low) / self._cycle)) / scale


def streams_of(field: Field) -> Mapping[str, str]:
    """Returns the stream of every sensor."""
    return {one.sid: one.stream for mote in field.motes for one in mote.sensors}
