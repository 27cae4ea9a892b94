"""SQL's names of types → ours: nine types and arrays of them, and every usual name for them."""

from __future__ import annotations

from sqlglot import exp

from aspen.errors import Position
from aspen.model.decimals import MOST_DIGITS
from aspen.model.schema import Type
from aspen.streamsql.errors import Unsupported

_NAMES = {
    Type.INT: "INT INTEGER BIGINT SMALLINT TINYINT INT128 UINT UBIGINT USMALLINT UTINYINT",
    Type.FLOAT: "FLOAT DOUBLE REAL",
    Type.DECIMAL: "DECIMAL NUMERIC BIGDECIMAL DECIMAL32 DECIMAL64",
    Type.TEXT: "TEXT VARCHAR CHAR NCHAR NVARCHAR BPCHAR NAME UUID",
    Type.BOOL: "BOOL BOOLEAN",
    Type.DATE: "DATE",
    Type.TIME: "TIME",
    Type.TIMESTAMP: "TIMESTAMP DATETIME TIMESTAMPNTZ",
    Type.TIMESTAMPTZ: "TIMESTAMPTZ",
}
SQL_TYPES: dict[str, Type] = {
    name: kind for kind, names in _NAMES.items() for name in names.split()
}

CASTS = {
    Type.INT: "to_int",
    Type.FLOAT: "to_float",
    Type.TEXT: "to_text",
    Type.BOOL: "to_bool",
    Type.DATE: "to_date",
    Type.TIME: "to_time",
    Type.TIMESTAMP: "to_datetime",
    Type.TIMESTAMPTZ: "to_moment",
}
"""The function that CAST calls, by the type wanted."""
TRIES = CASTS | {Type.INT: "try_to_int"}
"""The function that TRY_CAST calls."""
TO_DECIMAL = ("to_decimal", "try_to_decimal")
"""What CAST AS DECIMAL calls and what TRY_CAST does, with the digits behind the value."""


def names_decimal(tree: exp.Expr) -> bool:
    """Whether a type's name is one of those that digits stand behind."""
    return isinstance(tree, exp.DataType) and SQL_TYPES.get(_name(tree)) is Type.DECIMAL


def _name(tree: exp.Expr) -> str:
    return str(getattr(tree.this, "name", tree.this)).upper()


def type_of(
    tree: exp.Expr, at: Position, attempt: str = "INTEGER, REAL, VARCHAR or BOOLEAN"
) -> Type:
    """Returns the type SQL's name means.

    Args:
        at: where it is asked for.

    Raises:
        Unsupported: no type of ours.
    """
    spelt = _name(tree)
    if spelt in ("ARRAY", "LIST") and len(tree.expressions) == 1:
        inner = type_of(tree.expressions[0], at, attempt)
        if inner.array is not None:
            return inner.array
    if spelt not in SQL_TYPES:
        raise Unsupported(
            f"there is no type {spelt}",
            position=at,
            found=spelt,
            exists=[kind.word for kind in Type],
            attempt=attempt,
        )
    if not (names_decimal(tree) and tree.expressions):
        return SQL_TYPES[spelt]
    given = ",".join(one.name for one in tree.expressions)
    try:
        return Type(f"DECIMAL({given})")
    except ValueError:
        raise Unsupported(
            f"a DECIMAL has 1 to {MOST_DIGITS} digits, some of them behind the point",
            position=at,
            found=f"{spelt}({given})",
            exists=(f"DECIMAL({MOST_DIGITS}, 0)", f"DECIMAL({MOST_DIGITS}, {MOST_DIGITS})"),
            attempt="DECIMAL(10, 2), or FLOAT",
        ) from None
