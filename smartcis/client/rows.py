"""Rows: a table with names, types and units, as tuples, pandas or Arrow."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any, Protocol, TypeAlias, cast, overload

from smartcis.client.typed import typed, understood

Cell: TypeAlias = str | int | float | bool | None
_PANDAS_TYPES = {"TEXT": "object", "INT": "Int64", "FLOAT": "float64", "BOOL": "boolean"}
_ARROW_TYPES = {"TEXT": "string", "INT": "int64", "FLOAT": "float64", "BOOL": "bool"}


@dataclass(frozen=True, slots=True)
class RowsColumn:
    """A column of an answer.

    Args:
        type: TEXT, INT, FLOAT, BOOL, DECIMAL with its digits, or a time: DATE, TIME, TIMESTAMP,
            TIMESTAMPTZ; decimals and times are texts.
        unit: of what was measured; empty where nothing was.
    """

    name: str
    type: str
    unit: str


class RowTuple(Protocol):
    """A row: a named tuple whose fields are the answer's columns."""

    _fields: tuple[str, ...]

    def __getattr__(self, name: str) -> Any:
        """Returns the value in a column."""

    def __getitem__(self, index: int) -> Cell:
        """Returns the value in the column at an index."""

    def __iter__(self) -> Iterator[Cell]:
        """Walks the values in the order of the columns."""

    def __len__(self) -> int:
        """Returns the number of columns."""


@lru_cache(maxsize=256)
def row_type(names: tuple[str, ...]) -> Callable[..., RowTuple]:
    """Returns the named tuple of some columns; odd names become `_0` and so on."""
    made = namedtuple("RowTuple", [*names], rename=True)  # type: ignore[misc]  # noqa: PYI024
    return cast("Callable[..., RowTuple]", made)


class Rows(Sequence[RowTuple]):
    """The rows of an answer as of one epoch.

    Args:
        columns: name, type and unit of each.
        rows: values in the order of the columns.
        epoch: of the engine.
        position: in the building's log; the rows are those right before it.
        at_s: the log's clock there, seconds since 1970.
        total: how many rows there are; more than are here where a limit cut them.
        complete_since_s: where windows reach back further than is remembered, the log's time since
            which nothing of what they should hold is missing; None where nothing is missing.
    """

    def __init__(
        self,
        columns: Iterable[RowsColumn],
        rows: Iterable[Iterable[Cell]],
        *,
        epoch: int,
        position: int,
        at_s: float,
        total: int | None = None,
        complete_since_s: float | None = None,
    ) -> None:
        self.columns = tuple(columns)
        self.epoch = epoch
        self.position = position
        self.at_s = at_s
        self.complete_since_s = complete_since_s
        kind = row_type(self.names)
        self._rows: list[RowTuple] = [kind(*row) for row in rows]
        self.total = len(self._rows) if total is None else total

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> Rows:
        """Returns the rows in a JSON answer."""
        with understood("table of rows", body):
            return cls(
                [typed(RowsColumn, column) for column in body["columns"]],
                body["rows"],
                epoch=body["epoch"],
                position=body["position"],
                at_s=body["at_s"],
                total=body["total"],
                complete_since_s=body["complete_since_s"],
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return tuple(column.name for column in self.columns)

    @property
    def complete(self) -> bool:
        """Whether all rows are here."""
        return len(self._rows) == self.total

    def mappings(self) -> Iterator[dict[str, Cell]]:
        """Walks the rows as dictionaries from column to value."""
        for row in self._rows:
            yield dict(zip(self.names, row, strict=True))

    def to_pandas(self) -> Any:
        """Returns a pandas DataFrame; units stand in its `attrs["units"]`.

        Raises:
            ImportError: pandas is not installed.
        """
        pandas = _library("pandas")
        values = zip(*self._rows, strict=True) if self._rows else ([] for _ in self.columns)
        frame = pandas.concat(
            [
                pandas.Series(list(cells), dtype=_PANDAS_TYPES.get(column.type, "object"))
                for column, cells in zip(self.columns, values, strict=True)
            ],
            axis=1,
            keys=self.names,
        )
        frame.attrs["units"] = {one.name: one.unit for one in self.columns if one.unit}
        return frame

    def to_arrow(self) -> Any:
        """Returns a pyarrow Table; a column's unit stands in its field's metadata.

        Raises:
            ImportError: pyarrow is not installed.
        """
        arrow = _library("pyarrow")
        schema = arrow.schema(
            [
                arrow.field(
                    column.name,
                    arrow.type_for_alias(_ARROW_TYPES.get(column.type, "string")),
                    metadata={"unit": column.unit} if column.unit else None,
                )
                for column in self.columns
            ]
        )
        values = zip(*self._rows, strict=True) if self._rows else ([] for _ in self.columns)
        arrays = [
            arrow.array(list(cells), field.type)
            for cells, field in zip(values, schema, strict=True)
        ]
        return arrow.Table.from_arrays(arrays, schema=schema)

    @overload
    def __getitem__(self, index: int) -> RowTuple: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[RowTuple]: ...

    def __getitem__(self, index: int | slice) -> RowTuple | Sequence[RowTuple]:
        return self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        of = "" if self.complete else f" of {self.total}"
        return f"<Rows {', '.join(self.names)}: {len(self)}{of} as of epoch {self.epoch}>"


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(f"{name} is not installed: python -m pip install {name}") from error
