"""The base relations of the building: what every query starts from.

Units: metres for positions, millimetres for lengths walked (whole numbers add without error),
seconds since 1970-01-01 UTC for times.
"""

from __future__ import annotations

from collections.abc import Iterable

from aspen.model.catalog import Catalog
from aspen.model.schema import Column, Relation, SourceKind, Type
from aspen.motes.kinds import DEVICE_KINDS
from aspen.runtime.own_relations import SYSTEM_RELATIONS
from smartcis.personal import RFID_READING, VISITOR


def _text(name: str, *, nullable: bool = False) -> Column:
    return Column(name, Type.TEXT, nullable=nullable)


def _int(name: str, unit: str = "") -> Column:
    return Column(name, Type.INT, unit)


def _float(name: str, unit: str) -> Column:
    return Column(name, Type.FLOAT, unit)


def _either(names: Iterable[str]) -> str:
    *some, last = names
    return f"{', '.join(some)} or {last}"


def _flag(name: str) -> Column:
    return Column(name, Type.BOOL)


X_M, Y_M, AT_S = _float("x_m", "m"), _float("y_m", "m"), _float("at_s", "s")

TABLES: tuple[Relation, ...] = (
    Relation(
        "level",
        (_text("level_id"), _int("ordinal"), _text("name")),
        key=("level_id",),
        deletable=False,
        comment="Floors; ordinal 0 is the ground floor.",
    ),
    Relation(
        "room",
        (_text("rid"), _text("level_id"), _text("name"), _text("category")),
        key=("rid",),
        deletable=False,
        comment="Units of the building: rooms, corridors, stairs.",
    ),
    Relation(
        "room_point",
        (_text("rid"), X_M, Y_M),
        key=("rid",),
        deletable=False,
        comment="Where a room's name stands on the plan: one point for all of it.",
    ),
    Relation(
        "routing_node",
        (_int("node"), _text("level_id"), _text("rid"), X_M, Y_M),
        key=("node",),
        deletable=False,
        network="level_id",
        comment="Points one can walk to.",
    ),
    Relation(
        "routing_edge",
        (
            _int("src"),
            _int("dst"),
            _int("length_mm", "mm"),
            _flag("step_free"),
            _text("way"),
            _text("door_id", nullable=True),
        ),
        deletable=False,
        comment="Steps of the walking graph, one row per direction; way is walk, door, stairs, "
        "lift or entrance; door_id is null unless the step goes through a door.",
    ),
    Relation(
        "door",
        (_text("door_id"), _text("state"), X_M, Y_M, _text("level_id")),
        key=("door_id",),
        comment="Doors; state is open or locked.",
    ),
    Relation(
        "machine",
        (
            _text("mid"),
            _text("host"),
            _text("rid"),
            _int("node"),
            _text("level_id"),
            X_M,
            Y_M,
        ),
        key=("mid",),
        comment="Computers people sit down at, and the walking point beside each.",
    ),
    Relation(
        "machine_software",
        (_text("mid"), _text("software")),
        comment="What is installed where.",
    ),
    Relation(
        "reservation",
        (
            _int("reservation_id"),
            _text("rid"),
            _float("start_s", "s"),
            _float("end_s", "s"),
            _text("title"),
        ),
        key=("reservation_id",),
        comment="Rooms booked from start_s until before end_s.",
    ),
    Relation(
        "sensor",
        (
            _text("sid"),
            _text("kind"),
            _text("rid"),
            _text("mid", nullable=True),
            _int("node"),
            _text("level_id"),
            X_M,
            Y_M,
            _flag("simulated"),
        ),
        key=("sid",),
        comment=f"Devices that report; kind is {_either(kind.key for kind in DEVICE_KINDS)}.",
    ),
    Relation(
        "region_seed",
        (_text("region_id"), _text("sid")),
        comment="Sensors from which contiguous regions grow.",
    ),
    Relation(
        "kiosk",
        (_text("kiosk_id"), _text("name"), _int("node"), _text("level_id"), X_M, Y_M),
        key=("kiosk_id",),
        comment="Screens on the wall, and where they hang.",
    ),
    Relation(
        "route_request",
        (_text("session"), _int("node"), _text("software"), _flag("step_free")),
        key=("session",),
        comment="Who asks the way to a machine, from where, with which software.",
    ),
    VISITOR,
    Relation(
        "source",
        (
            _text("source"),
            _text("kind"),
            _text("name"),
            _text("rid", nullable=True),
            _text("mid", nullable=True),
            _float("late_s", "s"),
            _float("dead_s", "s"),
            _float("since_s", "s"),
        ),
        key=("source",),
        comment="What feeds the building: brokers, calendars, pages; silent for late_s it is "
        "late, for dead_s dead; since_s: when it was added.",
    ),
)

CLOCK = Relation(
    "clock",
    (_float("now_s", "s"),),
    comment="One row: log time, moved by ticks.",
)

# Rates are those of the demo building's simulator, per building; the optimizer counts with them.
STREAMS: tuple[Relation, ...] = (
    *(RFID_READING if kind.hears_tags else kind.relation for kind in DEVICE_KINDS),
    Relation(
        "mote_status",
        (
            _text("sid"),
            _text("parent"),
            _float("energy_mj", "mJ"),
            _int("hops"),
            _float("link_quality", ""),
            AT_S,
        ),
        SourceKind.STREAM,
        key=("sid",),
        rate_hz=3.0,
        comment="What a battery mote or receiver says of itself: whom it sends to, energy spent, "
        "links to its base station, share of frames its parent acknowledges.",
    ),
    Relation(
        "query_power",
        (
            _text("view"),
            _text("sid"),
            _float("power_mw", "mW"),
            _float("sent_bytes_per_s", ""),
            AT_S,
        ),
        SourceKind.STREAM,
        key=("view", "sid"),
        rate_hz=1.0,
        comment="What a mote spent for a submitted query during the last minute: radio, "
        "computing, samples of its epochs; what several queries ask for is shared evenly.",
    ),
    Relation(
        "source_heartbeat",
        (_text("source"), _float("since_s", "s"), _float("heard_s", "s"), _text("reason"), AT_S),
        SourceKind.STREAM,
        key=("source",),
        rate_hz=0.1,
        comment="A reader's word about its source: heard without a gap from since_s to heard_s; "
        "reason is what went wrong since, or what of it cannot be used.",
    ),
    Relation(
        "pdu_power",
        (
            _text("source"),
            _text("outlet"),
            _text("mid", nullable=True),
            _float("watts", "W"),
            AT_S,
        ),
        SourceKind.STREAM,
        key=("source", "outlet"),
        rate_hz=0.5,
        comment="Power drawn at an outlet of a power distribution unit, and the machine on it.",
    ),
    Relation(
        "host_load",
        (
            _text("host"),
            _float("cpu_pct", "%"),
            _float("memory_pct", "%"),
            _int("users"),
            _int("jobs"),
            Column("requests_hz", Type.FLOAT, "Hz", nullable=True),
            AT_S,
        ),
        SourceKind.STREAM,
        key=("host",),
        rate_hz=0.1,
        comment="A computer seen from inside: load, people logged in, processes at work, web "
        "requests (null where nobody counts them).",
    ),
    Relation(
        "host_process",
        (
            _text("host"),
            _int("place"),
            _int("pid"),
            _text("name"),
            _float("cpu_pct", "%"),
            _float("memory_mb", "MB"),
            AT_S,
        ),
        SourceKind.STREAM,
        key=("host", "place"),
        rate_hz=0.3,
        comment="The busiest processes of a computer; place 1 is the busiest.",
    ),
    Relation(
        "engine_load",
        (
            _text("engine"),
            _int("queries"),
            _int("epoch"),
            _float("epochs_hz", "Hz"),
            Column("epoch_ms", Type.FLOAT, "ms", nullable=True),
            _int("tuples_in"),
            _int("tuples_out"),
            AT_S,
        ),
        SourceKind.STREAM,
        key=("engine",),
        rate_hz=0.1,
        comment="AspEN about itself: maintained queries, epochs and their median time from append "
        "to result, log entries read and changed rows written since the last word.",
    ),
    Relation(
        "view_load",
        (_text("view"), _int("inserted"), _int("deleted"), _int("epochs"), AT_S),
        SourceKind.STREAM,
        key=("view",),
        rate_hz=1.0,
        comment="What one maintained view gave since the last word: rows that came, rows that "
        "went, epochs in which it changed.",
    ),
)

ALARM = Relation(
    "alarm",
    (
        _int("alarm_id"),
        _text("query"),
        _text("name"),
        _text("target"),
        _text("message"),
        _float("raised_s", "s"),
    ),
    key=("alarm_id",),
    comment="Alarms that stand: rows of queries with OUTPUT TO ALARM; each goes with its row.",
)

SYS_EPOCHS = Relation(
    "sys_epochs",
    (
        _int("epoch"),
        _int("position"),
        _int("views"),
        _int("inserted"),
        _int("deleted"),
        Column("epoch_ms", Type.FLOAT, "ms", nullable=True),
        AT_S,
    ),
    key=("epoch",),
    comment="Epochs of the last ten minutes in which views changed: how many, rows that came and "
    "went, time from append to result; views that watch the engine are not counted.",
    ttl_s=600.0,
)
"""What costs time is measured outside the lanes, and reported through the log."""

SYSTEM: tuple[Relation, ...] = (*SYSTEM_RELATIONS, SYS_EPOCHS)
"""What the engine says of itself; `sys.queries` in a query is `sys_queries` here."""

CATALOG = Catalog.of((*TABLES, ALARM, CLOCK, *STREAMS, *SYSTEM))

# Relations whose rows belong to one visitor: everything with this column is filtered by it.
TENANT_COLUMN = "session"
