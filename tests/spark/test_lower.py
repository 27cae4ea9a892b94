"""A lane fed with lowered entries is the lane fed with the log's, trace for trace."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from random import Random

import pytest
from waiting import wait_for_position

from aspen.algebra.explain import plan_text
from aspen.algebra.lowerable import lowerable
from aspen.log import RedisLog
from aspen.log.entry import Change, Declare, Register, Tick, Transaction, decode, encode
from aspen.model.catalog import Catalog
from aspen.model.schema import Column, Relation, SourceKind, Type
from aspen.runtime.lane import Lane
from aspen.spark.engine import Engine
from aspen.spark.lower import lower
from aspen.streamsql import compile_query

pytestmark = pytest.mark.spark

READING = Relation(
    "reading",
    (
        Column("did", Type.INT),
        Column("room", Type.TEXT, nullable=True),
        Column("celsius", Type.FLOAT, "°C"),
        Column("ok", Type.BOOL, nullable=True),
    ),
    kind=SourceKind.STREAM,
    rate_hz=1e6,
)
HALL = Relation("hall", (Column("room", Type.TEXT),))
CATALOG = Catalog.of([READING, HALL])
QUERIES = {
    "warm": """SELECT did, room, celsius FROM reading [RANGE 6 SECONDS]
        WHERE celsius > 25 AND (ok OR NOT did < 30)""",
    "named": """SELECT r.room, COUNT(*) AS n, AVG(r.celsius) AS mean
        FROM reading [RANGE 9 SECONDS] r
        WHERE r.room >= 'x],[y' OR r.room = 'q"t\\'
        GROUP BY r.room""",
    "nowhere": "SELECT did, ok FROM reading [RANGE 3 SECONDS] WHERE room IS NULL AND did <> 7",
}
ROOMS = [None, "", "null", "x", "x],[y", 'q"t\\', "ü", '],["reading",1,1,"x",99.0,true],[', "z"]


def plans():
    return {name: compile_query(sql, CATALOG).plan for name, sql in QUERIES.items()}


def row(draw: Random):
    celsius = draw.choice([draw.uniform(-30, 60), draw.randint(-30, 60), -0.0, 1e-7, 2.5e17])
    room, ok = draw.choice(ROOMS), draw.choice([None, True, False])
    return (draw.choice([7, draw.randint(-9, 99)]), room, celsius, ok)


def entry(draw: Random, at_s: float) -> bytes:
    """An entry as gateways write them; now and then as nobody should."""
    changes = [
        Change("hall", 1, (draw.choice("abc"),))
        if draw.random() < 0.1
        else Change("reading", 1, row(draw))
        for _ in range(draw.randint(1, 12))
    ]
    data = encode(Transaction(at_s, tuple(changes)))
    if draw.random() < 0.8:
        return data
    body = json.loads(data)
    match draw.randrange(6):
        case 0:
            body["c"].append(["reading", 1, "seven", "x", 99.0, True])
        case 1:
            body["c"].append(["reading", -1, 7, "x", 1.0, True])
        case 2:
            body["c"].append(["reading", 1, 7, "x", 1.0])
        case 3:
            body["c"].append(["reading", 1, 10**30, "x", 1.0, None])
        case 4:
            return json.dumps(body, indent=1).encode()
        case _:
            body["c"] = []
    return json.dumps(body, separators=(",", ":")).encode()


def lane_at_start() -> Lane:
    lane = Lane()
    begins = [Declare(0.0, READING), Declare(0.0, HALL), Tick(0.0)]
    begins += [Register(0.0, name, plan_text(plan)) for name, plan in plans().items()]
    lane.apply(list(enumerate(begins, start=1)))
    return lane


def test_differential_lowered_entries_leave_the_same_lane(session) -> None:
    lowered = lowerable(plans().values(), CATALOG.relations)
    assert [one.relation.name for one in lowered] == ["reading"]
    draw = Random(11)
    raw = [
        encode(Tick(float(n))) if n % 5 == 0 else entry(draw, float(n) - draw.choice([0, 0, 4]))
        for n in range(1, 400)
    ]
    source = session.createDataFrame(
        [(n, bytearray(data), n % 40 != 0) for n, data in enumerate(raw)],
        "position LONG, entry BINARY, lower BOOLEAN",
    )
    made = {r.position: bytes(r.entry) for r in lower(source, lowered).collect()}
    assert sum(map(len, made.values())) < 0.8 * sum(map(len, raw))
    assert all(made[n] == data for n, data in enumerate(raw) if n % 40 == 0)
    whole, less = lane_at_start(), lane_at_start()
    for number, data in enumerate(raw):
        position = whole.position + 1
        told = [
            {change.view: change for change in lane.apply([(position, decode(one))])}
            for lane, one in ((whole, data), (less, made[number]))
        ]
        assert told[0] == told[1]
    assert whole.snapshot() == less.snapshot()
    assert whole.errors


def test_differential_an_engine_selects_until_somebody_registers(config, session, results) -> None:
    config = replace(config, lower_from_hz=0.0)
    log = RedisLog(config.log_url, config.log_name, patience_s=20)
    lane, draw = Lane(), Random(12)
    said: dict[str, dict[str, object]] = {}

    def append(*entries) -> None:
        log.append(entries)
        lane.apply(list(enumerate(entries, start=lane.position + 1)))

    def readings(second: int) -> None:
        for _ in range(5):
            changes = tuple(Change("reading", 1, row(draw)) for _ in range(20))
            append(Transaction(float(second), changes))
        append(Tick(float(second)))

    def agree() -> None:
        assert wait_for_position(results, lane.position, 120)
        for name in lane.views.by_name:
            snapshot = results.snapshot(name)
            assert snapshot is not None
            assert dict(snapshot.rows) == lane.rows(name)

    append(Declare(0.0, READING), Declare(0.0, HALL), Tick(0.0))
    append(*(Register(0.0, name, plan_text(plan)) for name, plan in plans().items()))
    engine = Engine(config, lambda event, **fields: said.update({event: fields}), session)
    running = threading.Thread(target=engine.run, daemon=True)
    running.start()
    try:
        for second in range(1, 5):
            readings(second)
        agree()
        assert said["lowered"]["stream"] == "reading"
        everything = compile_query("SELECT did FROM reading [RANGE 4 SECONDS]", CATALOG).plan
        append(Register(4.0, "everything", plan_text(everything)))
        for second in range(5, 8):
            readings(second)
        agree()
        assert lane.rows("everything")
    finally:
        engine.stop()
        running.join(60)
    assert not running.is_alive()
