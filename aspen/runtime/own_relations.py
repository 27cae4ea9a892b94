"""The relations that a lane keeps itself; no entry may change them."""

from __future__ import annotations

from aspen.model.schema import Column, Relation, Type

CLOCK = Relation(
    "clock",
    (Column("now_s", Type.FLOAT, "s"),),
    key=("now_s",),
    comment="One row, the log's time; moved by ticks.",
)
ENGINE_ERROR = Relation(
    "engine_error",
    (Column("position", Type.INT), Column("code", Type.TEXT), Column("message", Type.TEXT)),
    comment="The newest entries the engine refused, by log position.",
)
OWN_RELATIONS = (CLOCK.name, ENGINE_ERROR.name)
ERRORS_KEPT = 100
ERROR_COLUMNS = tuple((c.name, c.type.value, c.unit) for c in ENGINE_ERROR.columns)
