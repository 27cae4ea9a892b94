"""Personal: the relations that tell where people are, and for how long.

A standing view over them is for everybody, and its text decides what it gives away; whoever else
reads them must be staff, and is noted.
"""

from __future__ import annotations

from aspen.model.schema import Column, Relation, SourceKind, Type

POSITIONS_KEPT_S = 60.0
"""How long the engine holds a position that a reader heard: no window reaches further back."""

VISITOR = Relation(
    "visitor",
    (
        Column("tag", Type.TEXT),
        Column("pseudonym", Type.TEXT),
        Column("consent", Type.TEXT),
        Column("simulated", Type.BOOL),
    ),
    key=("tag",),
    comment="Whose tag others may see, under today's name; consent is counted, room or exact; who "
    "has not opted in has no row. For staff, who are noted.",
)

# No key: a lane remembers the newest row per key, and nobody's last position is to be remembered.
RFID_READING = Relation(
    "rfid_reading",
    (
        Column("tag", Type.TEXT),
        Column("sid", Type.TEXT),
        Column("node", Type.INT),
        Column("rssi_dbm", Type.FLOAT, "dBm"),
        Column("at_s", Type.FLOAT, "s"),
    ),
    SourceKind.STREAM,
    device="rfid",
    rate_hz=5.0,
    comment="A visitor's tag, heard by a hallway reader at a walking point, for a minute. For "
    "staff, who are noted.",
    ttl_s=POSITIONS_KEPT_S,
)

PERSONAL = frozenset({VISITOR.name, RFID_READING.name, "visitor_heard"})
"""What only staff may read; the last is a standing view that others are made of."""
