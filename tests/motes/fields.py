"""Small sensor networks for tests: a hall of desks and rooms, and a world that is a hash."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from random import Random

from aspen.algebra.plan import Scan
from aspen.model.schema import Column, Relation, Row, SourceKind, Type
from sensors_sim.innet.execution import Sampled
from sensors_sim.motes import Attached, DeviceStream, Field, MoteSpec, base_station
from sensors_sim.network.links import Radio

SEAT = Relation(
    "seat_reading",
    (
        Column("mid", Type.TEXT),
        Column("sid", Type.TEXT),
        Column("rid", Type.TEXT),
        Column("weight_kg", Type.FLOAT, "kg"),
        Column("at_s", Type.FLOAT, "s"),
    ),
    SourceKind.STREAM,
    key=("sid",),
    device="seat",
)
LIGHT = Relation(
    "light_reading",
    (
        Column("rid", Type.TEXT),
        Column("sid", Type.TEXT),
        Column("lux", Type.FLOAT, "lx"),
        Column("at_s", Type.FLOAT, "s"),
    ),
    SourceKind.STREAM,
    key=("sid",),
    device="light",
)
TEMPERATURE = Relation(
    "temperature_reading",
    (
        Column("sid", Type.TEXT),
        Column("rid", Type.TEXT),
        Column("celsius", Type.FLOAT, "°C"),
        Column("at_s", Type.FLOAT, "s"),
    ),
    SourceKind.STREAM,
    key=("sid",),
    device="temperature",
)
STREAMS = {
    "seat_reading": DeviceStream(SEAT, ("weight_kg",), decimals={"weight_kg": 1}),
    "light_reading": DeviceStream(LIGHT, ("lux",), decimals={"lux": 0}),
    "temperature_reading": DeviceStream(TEMPERATURE, ("celsius",), decimals={"celsius": 2}),
}
RANGES = {
    "seat_reading": (0, 1000, 10),
    "light_reading": (0, 600, 1),
    "temperature_reading": (1500, 3000, 100),
}


def scan(stream: str, alias: str) -> Scan:
    relation = STREAMS[stream].relation
    columns = tuple(
        Column(f"{alias}.{c.name}", c.type, c.unit, c.nullable) for c in relation.columns
    )
    return Scan(stream, alias, columns, stream=True)


class Hashed:
    """Values that depend on the sensor, the time and a seed, and on nothing else."""

    def __init__(self, seed: int, streams: dict[str, str]) -> None:
        self.seed, self.streams = seed, streams

    def sample(self, sid: str, at_s: float) -> Sequence[Row]:
        low, high, scale = RANGES[self.streams[sid]]
        digest = blake2b(f"{self.seed}/{sid}/{at_s:.1f}".encode(), digest_size=4).digest()
        return [((low + int.from_bytes(digest, "big") % (high - low)) / scale,)]


def desks(
    rooms: int, seats: int, pitch_m: float = 8.0, bases: int = 1, wake_s: float = 0.1
) -> Field:
    """A row of rooms: each has a mote with light and temperature, and a mote per seat."""
    motes = [
        base_station(f"base{n}", n * rooms * pitch_m / bases, -4.0, "L0") for n in range(bases)
    ]
    for room in range(rooms):
        rid, x_m = f"R{room}", room * pitch_m
        on_wall = (
            Attached(f"{rid}.light", "light_reading", {"rid": rid, "sid": f"{rid}.light"}),
            Attached(f"{rid}.temp", "temperature_reading", {"rid": rid, "sid": f"{rid}.temp"}),
        )
        motes.append(MoteSpec(f"wall{room}", x_m, 0.0, "L0", 0, on_wall, wake_s=wake_s))
        for seat in range(seats):
            sid = f"{rid}.seat{seat}"
            given = {"mid": f"{rid}-m{seat}", "sid": sid, "rid": rid}
            motes.append(
                MoteSpec(
                    sid,
                    x_m + 2.0 * (seat % 3),
                    2.0 + 2.0 * (seat // 3),
                    "L0",
                    0,
                    (Attached(sid, "seat_reading", given),),
                    wake_s=wake_s,
                )
            )
    return Field(tuple(motes), (), STREAMS)


def world(field: Field, seed: int = 1) -> Hashed:
    return Hashed(seed, {s.sid: s.stream for m in field.motes for s in m.sensors})


def samples_of() -> tuple[dict[tuple[int, int], list[tuple[int, Row]]], Sampled]:
    """Returns a book of every row sampled, by query and epoch, and what fills it."""
    kept: dict[tuple[int, int], list[tuple[int, Row]]] = {}

    def note(query: int, epoch: int, sensor: int, row: Row) -> None:
        kept.setdefault((query, epoch), []).append((sensor, row))

    return kept, note


def scattered(seed: int, motes: int, bases: int) -> Field:
    """Seats strewn over a square of 40 m, some out of everybody's reach."""
    rng = Random(seed)
    found = [
        base_station(f"base{n}", rng.uniform(0, 40), rng.uniform(0, 40), "L0") for n in range(bases)
    ]
    for n in range(motes):
        rid, sid = f"R{n % 3}", f"seat{n}"
        given = {"mid": f"m{n}", "sid": sid, "rid": rid}
        attached = [Attached(sid, "seat_reading", given)]
        if n % 5 == 0:  # some motes carry two
            extra = {**given, "sid": f"{sid}b"}
            attached.append(Attached(f"{sid}b", "seat_reading", extra))
        place = (f"mote{n}", rng.uniform(0, 40), rng.uniform(0, 40), "L0", 0, tuple(attached))
        found.append(MoteSpec(*place, wake_s=rng.choice([0.0, 0.1])))
    return Field(tuple(found), (), STREAMS)


def reachable(field: Field, model: Radio) -> set[str]:
    """Returns the motes from which links lead to a base station."""
    links = model.links(field.motes, field.walls, 0)
    near = {mote.mote for mote in field.motes if mote.base}
    while more := {a for a, b in links if b in near} - near:
        near |= more
    return near
