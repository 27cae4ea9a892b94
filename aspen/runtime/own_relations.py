"""The relations that a lane keeps itself; no entry may change them."""

from __future__ import annotations

from aspen.model.schema import Column, Relation, Type, columns_of, header_of

CLOCK = Relation(
    "clock",
    (Column("now_s", Type.FLOAT, "s"),),
    key=("now_s",),
    comment="One row, the log's time; moved by ticks.",
)
ENGINE_ERROR = Relation(
    "engine_error",
    columns_of("position INT, code TEXT, message TEXT, lane INT"),
    comment="The newest entries the engine refused, by log position, as lane 0 says for all; and "
    "what operators of each lane want to be known.",
)
SYS_QUERIES = Relation(
    "sys_queries",
    columns_of(
        "view TEXT, state TEXT, rows INT NULL, strategy TEXT, sharing TEXT, dataflow TEXT, "
        "holders INT, error TEXT NULL, lane INT"
    ),
    key=("view",),
    comment="Registered views: state is running, suspended, waiting, failed or, with several "
    "lanes, elsewhere; dataflow is the view under which its operators stand; holders are who "
    "looks at it; views over sys have no rows. In all sys relations, lane is the one that says so.",
)
SYS_OPERATORS = Relation(
    "sys_operators",
    columns_of(
        "view TEXT, operator INT, kind TEXT, reads TEXT, rows INT, views INT, changes_in INT, "
        "changes_out INT, late_rows INT, lane INT"
    ),
    key=("view", "operator"),
    comment="Operators at work, each under the first view that uses it, and how many views do: "
    "rows of its own state; net changes of rows since the last tick; late_rows are those that a "
    "window ON a column did not count since it began, as their own time was out of reach.",
)
SYS_ARRANGEMENTS = Relation(
    "sys_arrangements",
    columns_of("view TEXT, operator INT, reads TEXT, places TEXT, rows INT, readers INT, lane INT"),
    key=("view", "operator", "places"),
    comment="Shared indexes: of which operator's rows, by which of their columns (counted from "
    "0), how many rows, how many operators look things up in it.",
)
SYS_COSTS = Relation(
    "sys_costs",
    columns_of("view TEXT, estimated_rows FLOAT, rows INT, q_error FLOAT, lane INT"),
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
ERROR_COLUMNS = header_of(ENGINE_ERROR.columns)
