"""SQL's names of types → ours: four types, and every usual name for them."""

from __future__ import annotations

from sqlglot import exp

from aspen.errors import Position
from aspen.model.schema import Type
from aspen.streamsql.errors import Unsupported

_NAMES = {
    Type.INT: "INT INTEGER BIGINT SMALLINT TINYINT INT128 UINT UBIGINT USMALLINT UTINYINT",
    Type.FLOAT: "FLOAT DOUBLE REAL DECIMAL NUMERIC BIGDECIMAL DECIMAL32 DECIMAL64",
    Type.TEXT: "TEXT VARCHAR CHAR NCHAR NVARCHAR BPCHAR NAME UUID DATE TIME TIMESTAMP DATETIME",
    Type.BOOL: "BOOL BOOLEAN",
}
SQL_TYPES: dict[str, Type] = {
    name: kind for kind, names in _NAMES.items() for name in names.split()
}
"""Dates and times are texts in ISO form, which order as the times do."""

CASTS = {
    Type.INT: "to_int",
    Type.FLOAT: "to_float",
    Type.TEXT: "to_text",
    Type.BOOL: "to_bool",
}
"""The function that CAST calls, by the type wanted."""


def type_of(
    tree: exp.Expr, at: Position, attempt: str = "INTEGER, REAL, VARCHAR or BOOLEAN"
) -> Type:
    """Returns the type SQL's name means.

    Args:
        at: where it is asked for.

    Raises:
        Unsupported: no type of ours.
    """
    spelt = str(getattr(tree.this, "name", tree.this)).upper()
    if spelt not in SQL_TYPES:
        raise Unsupported(
            f"there is no type {spelt}",
            position=at,
            found=spelt,
            exists=("FLOAT", "INT", "TEXT", "BOOL"),
            attempt=attempt,
        )
    return SQL_TYPES[spelt]
