"""Recorded rows: a table in a file, read on from a place in it, a piece at a time.

t,celsius⏎      place 0: the first row
08:00,21.5⏎     place 10: behind it, in bytes of CSV or rows of Parquet
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from smartcis.wrappers.errors import BadConfig, SourceDown

LINE_BYTES = 1_000_000
PIECE_ROWS = 1_000
DELIMITERS = (",", ";", "\t", "|")
Placed = tuple[int, Mapping[str, Any] | None]
"""A place, and the row before it; None for one that cannot be read."""


def rows_from(path: Path, place: int, columns: Sequence[str]) -> Iterator[Placed]:
    """Reads the rows behind a place, each with the place behind it.

    Args:
        columns: the names that are wanted.

    Raises:
        SourceDown: no such file, none of these formats, or none of these columns.
    """
    try:
        if path.suffix == ".parquet":
            yield from _parquet(path, place, columns)
        else:
            with path.open("rb") as file:
                yield from _csv(file, place, columns)
    except OSError as error:
        raise SourceDown(f"the file cannot be read: {error.strerror or error}") from error


def check_format(path: Path) -> None:
    """Refuses what is neither CSV nor Parquet by its name.

    Raises:
        BadConfig: saying what is read.
    """
    if path.suffix not in {".csv", ".tsv", ".txt", ".parquet"}:
        raise BadConfig(
            "recordings are CSV or Parquet",
            found=path.name[:80],
            exists=(".csv", ".tsv", ".txt", ".parquet"),
        )


def _csv(file: BinaryIO, place: int, columns: Sequence[str]) -> Iterator[Placed]:
    heading = _line(file).removeprefix("\ufeff")
    delimiter = max(DELIMITERS, key=heading.count)
    names = next(csv.reader([heading], delimiter=delimiter), [])
    _check_columns(names, columns)
    # Python's reader asks for a line when it needs one, so the file stands behind the row.
    file.seek(max(place, file.tell()))
    rows = csv.reader(iter(lambda: _line(file), ""), delimiter=delimiter)
    while True:
        row = None
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error:
            rows = csv.reader(iter(lambda: _line(file), ""), delimiter=delimiter)
        if row:
            # R writes the names of its rows into a column without a heading.
            values = row[1:] if len(row) == len(names) + 1 else row
            whole = len(values) == len(names)
            yield file.tell(), dict(zip(names, values, strict=True)) if whole else None
        elif row is None:
            yield file.tell(), None


def _line(file: BinaryIO) -> str:
    data = file.readline(LINE_BYTES + 1)
    if len(data) > LINE_BYTES:
        raise SourceDown(f"a line of the file is longer than {LINE_BYTES} bytes")
    return data.decode(errors="replace")


def _parquet(path: Path, place: int, columns: Sequence[str]) -> Iterator[Placed]:
    import pyarrow  # noqa: PLC0415, ICN001  # 30 MB that a server without such a source saves
    from pyarrow import parquet  # noqa: PLC0415

    try:
        with parquet.ParquetFile(path) as file:
            _check_columns(file.schema_arrow.names, columns)
            first = 0
            for group in range(file.num_row_groups):
                count = file.metadata.row_group(group).num_rows
                if first + count <= place:
                    first += count
                    continue
                for piece in file.iter_batches(PIECE_ROWS, [group], list(columns)):
                    if first + piece.num_rows > place:
                        wanted = piece.slice(max(0, place - first))
                        behind = first + piece.num_rows - wanted.num_rows
                        yield from enumerate(wanted.to_pylist(), start=behind + 1)
                    first += piece.num_rows
    except (pyarrow.ArrowException, ValueError) as error:
        if isinstance(error, OSError):
            raise
        reason = str(error).partition("\n")[0][:100]
        raise SourceDown(f"the file is no Parquet that can be read: {reason}") from error


def _check_columns(names: Sequence[str], wanted: Sequence[str]) -> None:
    for name in wanted:
        if name not in names:
            raise SourceDown(
                f"the recording has no column {name[:60]!r}", found=name[:60], exists=names[:50]
            )
