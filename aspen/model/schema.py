"""Schema: the columns of a relation, with types and units."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum

from aspen.errors import AspenError
from aspen.model.arrays import Array
from aspen.model.decimals import MOST_DIGITS, digits_of, text_of, units_of
from aspen.model.times import READERS

Value = str | int | float | bool | None
"""What a column of one value holds; one of arrays holds an `Array`, which few have to know."""
Row = tuple[Value, ...]
INT_LEAST, INT_MOST = -(2**63), 2**63 - 1
"""An INT has 64 bits."""
_TOO_LARGE = 1 << 1023


class SchemaError(AspenError, code="aspen.model.schema"):
    """A relation or a row that contradicts its schema."""


class Type(Enum):
    """The types StreamSQL computes with; the value is the SQL spelling.

    Times are texts, spelt as `aspen.model.times` says; a span of time is a FLOAT in s. A DECIMAL
    says its digits; every count of them is a type, made when it is first named. An array holds
    values of one type, and is itself of that type's array type.
    """

    TEXT = "TEXT"
    INT = "INT"
    FLOAT = "FLOAT"
    DECIMAL = "DECIMAL(18,3)"
    BOOL = "BOOL"
    DATE = "DATE"
    TIME = "TIME"
    TIMESTAMP = "TIMESTAMP"
    TIMESTAMPTZ = "TIMESTAMPTZ"
    TEXT_ARRAY = "TEXT[]"
    INT_ARRAY = "INT[]"
    FLOAT_ARRAY = "FLOAT[]"
    BOOL_ARRAY = "BOOL[]"
    DATE_ARRAY = "DATE[]"
    TIME_ARRAY = "TIME[]"
    TIMESTAMP_ARRAY = "TIMESTAMP[]"
    TIMESTAMPTZ_ARRAY = "TIMESTAMPTZ[]"

    @classmethod
    def _missing_(cls, value: object) -> Type | None:
        found = digits_of(str(value))
        return None if found is None else cls.decimal(*found)

    @classmethod
    def decimal(cls, precision: int, scale: int) -> Type:
        """Returns the DECIMAL of so many digits, and so many behind the point."""
        spelt = f"DECIMAL({precision},{scale})"
        known: dict[object, Type] = cls._value2member_map_  # type: ignore[assignment]
        if spelt not in known:
            made = object.__new__(cls)
            made._name_ = spelt
            made._value_ = spelt
            known.setdefault(spelt, made)
        return known[spelt]

    @property
    def digits(self) -> tuple[int, int] | None:
        """How many digits a DECIMAL has, and how many behind the point; None of others."""
        return digits_of(self.value)

    @property
    def family(self) -> Type:
        """The one of the types above that it is: DECIMAL for each DECIMAL."""
        return self if self.digits is None else Type.DECIMAL

    @property
    def word(self) -> str:
        """What it is called, whatever its digits."""
        return self.value.partition("(")[0]

    @property
    def numeric(self) -> bool:
        """Whether arithmetic and SUM accept it."""
        return self.family in (Type.INT, Type.FLOAT, Type.DECIMAL)

    @property
    def is_time(self) -> bool:
        """Whether its values are times."""
        return self.value in READERS

    @property
    def element(self) -> Type | None:
        """The type of what its arrays hold, None where its values are no arrays."""
        return Type(self.value[:-2]) if self.value.endswith("[]") else None

    @property
    def array(self) -> Type | None:
        """The type of arrays of its values, None where there is none."""
        return Type.__members__.get(f"{self.name}_ARRAY")

    @property
    def python(self) -> type:
        """Returns the type that its values have in rows."""
        return Array if self.element is not None else _PYTHON.get(self, str)


_PYTHON: dict[Type, type] = {Type.INT: int, Type.FLOAT: float, Type.BOOL: bool}
_ACCEPTED: dict[Type, tuple[type, ...]] = {
    Type.FLOAT: (float, int),
    Type.DECIMAL: (str, float, int),
}


TIMES_WRITTEN = {
    Type.DATE: "2026-11-23",
    Type.TIME: "13:05:00",
    Type.TIMESTAMP: "2026-11-23 13:05:00",
    Type.TIMESTAMPTZ: "2026-11-23T13:05:00+01:00",
}
"""How a time of each type may be written."""


def is_column_name(name: str) -> bool:
    """Whether a column may be called so: in quotes, where it is no plain word."""
    return bool(name) and name.isprintable() and name == " ".join(name.split()) and "." not in name


@dataclass(frozen=True, slots=True)
class Column:
    """One column: a name, a type and, for a measured quantity, its unit."""

    name: str
    type: Type
    unit: str = ""
    nullable: bool = False

    def __post_init__(self) -> None:
        # Inside a plan a column carries its alias: `m.mid`.
        if not all(map(is_column_name, self.name.split("."))):
            raise SchemaError(
                f"{self.name!r} is no name of a column",
                attempt="letters, digits, signs and single spaces; no full stop",
            )

    @property
    def respelt(self) -> bool:
        """Whether a value may come otherwise than rows hold it."""
        kind = self.type
        return kind.is_time or kind.digits is not None or kind.element is not None

    def check(self, value: Value) -> None:
        """Refuse a value of another type; a time may be spelt in any usual way.

        Raises:
            SchemaError: null in a column that has none, or another Python type.
        """
        if value is None:
            if not self.nullable:
                raise SchemaError(f"column {self.name} cannot be null", found="null")
            return
        if self.type.element is not None and isinstance(value, Array | list):
            inner = replace(self, type=self.type.element, nullable=True)
            for one in value:
                inner.check(one)
            return
        expected = _ACCEPTED.get(self.type.family, (self.type.python,))
        is_bool = isinstance(value, bool)
        if not isinstance(value, expected) or (is_bool and self.type is not Type.BOOL):
            raise SchemaError(
                f"column {self.name} holds {self.type.value}",
                found=f"{value!r} ({type(value).__name__})",
                exists=[kind.__name__ for kind in expected],
            )
        if self.type.digits is not None:
            self._check_digits(value)
        elif isinstance(value, int):
            self._check_size(value)
        if isinstance(value, str) and self.type.is_time and self.kept(value) is None:
            raise SchemaError(
                f"column {self.name} holds {self.type.value}, and this text is none",
                found=repr(value),
                exists=(TIMES_WRITTEN[self.type],),
                attempt="years from 1 to 9999, as in ISO 8601",
            )

    def _check_digits(self, value: str | float) -> None:
        precision, scale = self.type.digits or (MOST_DIGITS, 0)
        units = units_of(value, scale)
        if units is not None and abs(units) < 10**precision:
            return
        raise SchemaError(
            f"column {self.name} holds {self.type.value}, and this is none",
            found=repr(value)[:40],
            exists=(f"{precision - scale} digits before the point and {scale} behind it",),
        )

    def _check_size(self, value: int) -> None:
        whole = self.type is Type.INT
        if abs(value) <= INT_MOST or (value == INT_LEAST if whole else abs(value) < _TOO_LARGE):
            return
        raise SchemaError(
            f"column {self.name} holds {self.type.value}, and this number is too large",
            found=f"a number of {value.bit_length()} bits",
            exists=(f"{INT_LEAST} … {INT_MOST}",) if whole else (),
            attempt="declare the column FLOAT, or TEXT where it is a name" if whole else "",
        )

    def kept(self, value: Value) -> Value:
        """Returns a value as rows hold it: times, decimals in one spelling, null if it is none."""
        digits = self.type.digits
        if digits is not None and value is not None:
            units = units_of(value, digits[1])
            return None if units is None else text_of(units, digits[1])
        if self.type.element is not None and isinstance(value, Array | list):
            inner = replace(self, type=self.type.element)
            floats = inner.type is Type.FLOAT
            found = map(inner.kept, value)
            return Array(float(one) if floats and one is not None else one for one in found)
        if isinstance(value, str) and self.type.is_time:
            return READERS[self.type.value](value)
        return value


def columns_of(text: str) -> tuple[Column, ...]:
    """Read columns as declarations spell them.

    >>> columns_of("name TEXT, size FLOAT NULL")[1]
    Column(name='size', type=<Type.FLOAT: 'FLOAT'>, unit='', nullable=True)
    """
    words = [part.split() for part in text.split(",")]
    return tuple(Column(name, Type(kind), nullable=bool(null)) for name, kind, *null in words)


def header_of(columns: Iterable[Column]) -> tuple[tuple[str, str, str], ...]:
    """Returns name, type and unit of each column; the name is without the alias of a plan."""
    return tuple((c.name.split(".")[-1], c.type.value, c.unit) for c in columns)


class SourceKind(Enum):
    """How a relation changes.

    TABLE rows are inserted and deleted; STREAM rows are only ever appended, and leave through
    a window; VIEW rows are derived.
    """

    TABLE = "TABLE"
    STREAM = "STREAM"
    VIEW = "VIEW"


@dataclass(frozen=True, slots=True)
class Relation:
    """A named source: its columns, key and kind.

    Args:
        name: lower-case identifier, unique in a catalog.
        columns: in row order.
        kind: how it changes.
        key: names of the columns that identify a row; empty when the whole row does.
        deletable: False promises that rows practically never go (a wall, a corridor): they get
            no provenance variable, and a deletion rebuilds the views that read them.
        device: the sensor kind that produces the stream, empty for all other relations.
        rate_hz: expected arrivals per second, for the optimizer; 0 when unknown.
        comment: one line for the schema browser.
        ttl_s: seconds of log time a row lives, 0 for ever; ticks end it.
        network: of a table with one row per node, the column that says which network (floor,
            building) the node of its key lies in; empty elsewhere. Recursions are split by it.
    """

    name: str
    columns: tuple[Column, ...]
    kind: SourceKind = SourceKind.TABLE
    key: tuple[str, ...] = ()
    deletable: bool = True
    device: str = ""
    rate_hz: float = 0.0
    comment: str = ""
    ttl_s: float = 0.0
    network: str = ""

    def __post_init__(self) -> None:
        names = self.names
        if len(set(names)) != len(names):
            raise SchemaError(f"relation {self.name} names a column twice", exists=names)
        for part in self.key:
            if part not in names:
                raise SchemaError(
                    f"key column {part!r} is not in relation {self.name}", exists=names
                )
        if self.network and not self._says_networks:
            raise SchemaError(
                f"{self.network!r} cannot say which network a node of {self.name} lies in",
                found=self.network,
                exists=names,
                attempt="a table with a key of one column, and a TEXT or INT column beside it",
            )

    @property
    def _says_networks(self) -> bool:
        if self.kind is not SourceKind.TABLE or len(self.key) != 1:
            return False
        kinds = {column.name: column.type for column in self.columns if column.name not in self.key}
        return kinds.get(self.network) in (Type.TEXT, Type.INT)

    @property
    def names(self) -> tuple[str, ...]:
        """Column names in row order."""
        return tuple(column.name for column in self.columns)

    def index(self, name: str) -> int:
        """Returns a column's index in the row.

        Raises:
            SchemaError: no column of that name.
        """
        try:
            return self.names.index(name)
        except ValueError:
            raise SchemaError(
                f"relation {self.name} has no column {name!r}", found=name, exists=self.names
            ) from None

    def check(self, row: Row) -> None:
        """Refuse a row of another shape.

        Raises:
            SchemaError: wrong number of values, or a value of the wrong type.
        """
        if len(row) != len(self.columns):
            raise SchemaError(
                f"relation {self.name} has {len(self.columns)} columns",
                found=f"{len(row)} values",
                exists=self.names,
            )
        for column, value in zip(self.columns, row, strict=True):
            column.check(value)

    def kept(self, row: Row) -> Row:
        """Returns a row that was checked as it is kept: times, decimals, arrays in one spelling."""
        if not any(column.respelt for column in self.columns):
            return row
        return tuple(c.kept(value) for c, value in zip(self.columns, row, strict=True))
