"""The relations that a lane keeps itself; no entry may change them."""

from __future__ import annotations

from aspen.model.schema import Column, Relation, Type


def _text(name: str, *, nullable: bool = False) -> Column:
    return Column(name, Type.TEXT, nullable=nullable)


def _int(name: str, *, nullable: bool = False) -> Column:
    return Column(name, Type.INT, nullable=nullable)


CLOCK = Relation(
    "clock",
    (Column("now_s", Type.FLOAT, "s"),),
    key=("now_s",),
    comment="One row, the log's time; moved by ticks.",
)
ENGINE_ERROR = Relation(
    "engine_error",
    (_int("position"), _text("code"), _text("message"), _int("lane")),
    comment="The newest entries the engine refused, by log position, as lane 0 says for all; and "
    "what operators of each lane want to be known.",
)
SYS_QUERIES = Relation(
    "sys_queries",
    (
        _text("view"),
        _text("state"),
        _int("rows", nullable=True),
        _text("strategy"),
        _text("sharing"),
        _text("dataflow"),
        _int("holders"),
        _text("error", nullable=True),
        _int("lane"),
    ),
    key=("view",),
    comment="Registered views: state is running, suspended, waiting, failed or, with several "
    "lanes, elsewhere; dataflow is the view under which its operators stand; holders are who "
    "looks at it; views over sys have no rows. In all sys relations, lane is the one that says so.",
)
SYS_OPERATORS = Relation(
    "sys_operators",
    (
        _text("view"),
        _int("operator"),
        _text("kind"),
        _text("reads"),
        _int("rows"),
        _int("views"),
        _int("changes_in"),
        _int("changes_out"),
        _int("lane"),
    ),
    key=("view", "operator"),
    comment="Operators at work, each under the first view that uses it, and how many views do: "
    "rows of its own state; net changes of rows since the last tick.",
)
SYS_ARRANGEMENTS = Relation(
    "sys_arrangements",
    (
        _text("view"),
        _int("operator"),
        _text("reads"),
        _text("places"),
        _int("rows"),
        _int("readers"),
        _int("lane"),
    ),
    key=("view", "operator", "places"),
    comment="Shared indexes: of which operator's rows, by which of their columns (counted from "
    "0), how many rows, how many operators look things up in it.",
)
SYS_COSTS = Relation(
    "sys_costs",
    (
        _text("view"),
        Column("estimated_rows", Type.FLOAT),
        _int("rows"),
        Column("q_error", Type.FLOAT),
        _int("lane"),
    ),
    key=("view",),
    comment="Estimated against measured rows of each running view; q_error is the factor "
    "between them, at least 1.",
)
SYSTEM_RELATIONS = (SYS_QUERIES, SYS_OPERATORS, SYS_ARRANGEMENTS, SYS_COSTS)
SYSTEM_NAMES = frozenset(relation.name for relation in SYSTEM_RELATIONS)
LANE_RELATIONS = SYSTEM_NAMES | {ENGINE_ERROR.name}
"""Those of which every lane has rows of its own, with its number in the column `lane`."""

OWN_RELATIONS = SYSTEM_NAMES | {CLOCK.name, ENGINE_ERROR.name}
ERRORS_KEPT = 100
ERROR_COLUMNS = tuple((c.name, c.type.value, c.unit) for c in ENGINE_ERROR.columns)
