"""When everything falls silent, no standing view shows what was."""

from __future__ import annotations

from aspen.algebra.explain import plan_text
from aspen.log.entry import Change, Declare, Register, Tick, Transaction
from aspen.runtime.lane import Lane
from aspen.streamsql import compile_views
from smartcis.catalog import CATALOG, STREAMS
from smartcis.queries import standing_queries

START_S = 1_700_000_000.0
ROWS = {
    "room": [("A", "L0", "A", "room"), ("B", "L0", "B", "room")],
    "routing_node": [(1, "L0", "A", 0.0, 0.0)],
    "machine": [("m1", "h1", "A", 1, "L0", 0.0, 0.0), ("m2", "h2", "A", 1, "L0", 0.0, 0.0)],
    "machine_software": [("m1", "LaTeX")],
    "sensor": [
        ("t1", "temperature", "A", None, 1, "L0", 0.0, 0.0, True),
        ("l1", "light", "A", None, 1, "L0", 0.0, 0.0, True),
        ("c1", "co2", "A", None, 1, "L0", 0.0, 0.0, False),
    ],
    "sensor_kind": [("co2", "CO₂", "ppm", 0.0, 5_000.0)],
    "sensor_interval": [("c1", 60.0, 243.0)],
    "region_seed": [("r", "t1")],
    "route_request": [("s", 1, "free-machine:LaTeX", False)],
    "source": [("pdu", "pdu", "PDU", "A", "m1", 20.0, 40.0, START_S - 100)],
    "seat_reading": [("m1", "m1.seat", 0.0, START_S), ("m2", "m2.seat", 70.0, START_S)],
    "cpu_reading": [("m1", "m1.cpu", 1.0, START_S), ("m2", "m2.cpu", 99.0, START_S)],
    "light_reading": [("A", "l1", 400.0, START_S), ("B", "l2", 1.0, START_S)],
    "temperature_reading": [("t1", "A", 30.0, START_S)],
    "humidity_reading": [("A", "h1", 40.0, START_S)],
    "door_reading": [("A", "d1", 1.0, START_S)],
    "reading": [("c1", "co2", "A", None, 600.0, "ppm", START_S)],
    "energy_reading": [("m1", "m1.meter", 40.0, START_S)],
    "host_load": [("h1", 5.0, 20.0, 1, 3, None, START_S)],
    "host_process": [("h1", 1, 77, "compiler", 4.0, 200.0, START_S)],
    "query_power": [("q", "t1", 0.4, 2.0, START_S)],
    "rfid_reading": [(tag, "x", 1, -60.0, START_S) for tag in ("a", "b", "c")],
    "visitor": [(tag, f"v-{tag}", "exact", True) for tag in ("a", "b", "c")],
    "room_point": [("A", 1.0, 1.0)],
    "pdu_power": [("pdu", "1", "m1", 40.0, START_S)],
    "source_heartbeat": [("pdu", START_S, START_S, "", START_S)],
}
# What tells of silence speaks when all others have fallen silent; an unlit room is only dark
# while its sensor says so.
TELLS = {
    "source_status",
    "silent_source",
    "silent_room",
    "silent_sensor",
    "open_room",
    "closed_room",
    "room_state",
    "machine_state",
    "no_route",
}
# Motes and sensors are as they said last; rooms and machines stand where they stand, and a room
# whose machines say nothing has none that are free or in use.
LAST = {"mote_health", "sensor_reading", "destination", "room_occupancy", "reachable_destination"}
# Without a walk to speak of there is no step before another, no door on it, no news of it.
OF_OTHER_WALKS = {"walking_parent", "route_door", "no_route", "route_news"}


def streams_under(name: str, sources: dict[str, frozenset[str]]) -> set[str]:
    """The streams a view rests on, through other views too."""
    if name not in sources:
        return {name} & {stream.name for stream in STREAMS}
    return {stream for source in sources[name] for stream in streams_under(source, sources)}


def test_every_view_over_a_stream_empties_within_its_range():
    views = compile_views(standing_queries(), CATALOG)
    sources = {str(view.name): view.sources for view in views}
    live = {name for name in sources if streams_under(name, sources)} - TELLS - LAST
    assert {"free_machine", "nearest_destination", "room_climate", "active_region"} < live
    lane = Lane()
    entries = [
        *(Declare(START_S, relation) for relation in CATALOG),
        *(Register(START_S, str(view.name), plan_text(view.plan)) for view in views),
        Tick(START_S),
        *(
            Transaction(START_S, tuple(Change(relation, 1, row) for row in rows))
            for relation, rows in ROWS.items()
        ),
        Tick(START_S + 1.0),
    ]
    lane.apply(list(enumerate(entries, start=1)))
    shown = {name for name in live if lane.rows(name)}
    assert live - shown <= OF_OTHER_WALKS
    lane.apply([(len(entries) + 1, Tick(START_S + 301.0))])
    assert {name: lane.rows(name) for name in live if lane.rows(name)} == {}
    assert set(lane.rows("silent_room")) == {("A",)}
    assert set(lane.rows("silent_sensor")) == {("c1", "A", None, "co2", "CO₂")}
    assert set(lane.rows("closed_room")) == {("A", "no data")}
    assert "A" not in {rid for (rid,) in lane.rows("open_room")}
    assert ("A", "closed", "no data") in lane.rows("room_state")
    assert {row[1:] for row in lane.rows("machine_state")} == {("closed", "no data")}
    ((source, *_),) = lane.rows("silent_source")
    assert source == "pdu"
