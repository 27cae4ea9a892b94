"""Table: the rows of an inventory's file, whatever program wrote it.

Delimiter comma, semicolon or tab; UTF-8 with or without a byte order mark, or Windows-1252.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from smartcis.importers.errors import BrokenFile, ImportTooLarge, UnknownFormat
from smartcis.importers.inventory.columns import COLUMNS, columns_of, thing_of

LARGEST_BYTES = 500_000
MOST_ROWS = 2_000
DELIMITERS = ",;\t"
SHOWN_LENGTH = 80
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_TOLD = re.compile(r"sep=(.)\r?\n")  # how spreadsheets tell each other the delimiter


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row.

    Args:
        number: the line of the file at which it begins, from 1.
        cells: what stands under each known column; empty ones are left out.
        surplus: how many cells stand behind the last header.
    """

    number: int
    cells: Mapping[str, str]
    surplus: int = 0


@dataclass(frozen=True, slots=True)
class Table:
    """What a file lists.

    Args:
        thing: machines, sensors or rooms.
        headers: what the file calls each known column.
        ignored: headers that name none.
    """

    thing: str
    headers: Mapping[str, str]
    ignored: Sequence[str]
    rows: Sequence[TableRow]


def table_of(data: bytes) -> Table:
    """Reads a file.

    Raises:
        ImportTooLarge: it has more bytes or rows than an inventory.
        BrokenFile: it is no text, or no table.
        UnknownFormat: its header names no list.
    """
    if len(data) > LARGEST_BYTES:
        raise ImportTooLarge(
            "the file is too large for an inventory",
            found=f"{len(data)} bytes",
            exists=[f"up to {LARGEST_BYTES} bytes"],
            attempt="split it: what other files list stays as it is",
        )
    text = _text(data)
    told = _TOLD.match(text)
    text = text[told.end() :] if told else text
    header, delimiter = _header(text, told[1] if told else DELIMITERS)
    thing = thing_of(header)
    named = columns_of(thing, header)
    twice = [column for column, count in Counter(named).items() if column and count > 1]
    if twice:
        both = [word for word, column in zip(header, named, strict=True) if column == twice[0]]
        raise UnknownFormat(
            f"two headers name the {thing}' {twice[0]}",
            found=", ".join(both)[:SHOWN_LENGTH],
            attempt="rename one of them",
        )
    return Table(
        thing,
        {column: word for word, column in zip(header, named, strict=True) if column},
        tuple(word for word, column in zip(header, named, strict=True) if word and not column),
        _rows(text, delimiter, named, 1 if told else 0),
    )


def _text(data: bytes) -> str:
    if data.startswith(_UTF16) or b"\0" in data:
        raise BrokenFile(
            "the file is no plain text", attempt="save it as CSV in UTF-8 or Windows-1252"
        )
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError as fault:
            at = fault.start
    raise BrokenFile(
        "the file is neither UTF-8 nor Windows-1252",
        found=f"byte {data[at]:#04x} at {at}",
        attempt="save it as CSV in UTF-8",
    )


def _header(text: str, delimiters: str) -> tuple[list[str], str]:
    """Returns the header's cells, read with the delimiter that makes most sense of them."""
    read = {delimiter: _first(text, delimiter) for delimiter in delimiters}
    fits = {one: header for one, header in read.items() if thing_of(header)}
    if not fits:
        raise UnknownFormat(
            "the first row names no list of machines, sensors or rooms",
            found=text.split("\n", 1)[0][:SHOWN_LENGTH].strip(),
            exists=[f"{thing}: {', '.join(columns)}" for thing, columns in COLUMNS.items()],
            attempt="name the columns in the first row, among them mid, sid or rid",
        )

    def known(delimiter: str) -> int:
        header = fits[delimiter]
        return sum(map(bool, columns_of(thing_of(header), header)))

    best = max(fits, key=known)
    return fits[best], best


def _first(text: str, delimiter: str) -> list[str]:
    try:
        header: list[str] = next(_reader(text, delimiter), [])
    except csv.Error:
        return []
    return [cell.strip() for cell in header]


def _reader(text: str, delimiter: str) -> Any:
    """Returns the standard library's reader, whose type has no public name."""
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)


def _rows(text: str, delimiter: str, named: Sequence[str], before: int) -> tuple[TableRow, ...]:
    reader = _reader(text, delimiter)
    rows: list[TableRow] = []
    try:
        next(reader)
        begins = reader.line_num
        for cells in reader:
            number, begins = before + begins + 1, reader.line_num
            stripped = [cell.strip() for cell in cells]
            if not any(stripped):
                continue
            if len(rows) == MOST_ROWS:
                raise ImportTooLarge(
                    "the file has too many rows for an inventory",
                    found=f"more than {MOST_ROWS}",
                    exists=[f"up to {MOST_ROWS}"],
                    attempt="split it: what other files list stays as it is",
                )
            held = {c: cell for c, cell in zip(named, stripped, strict=False) if c and cell}
            rows.append(TableRow(number, held, sum(map(bool, stripped[len(named) :]))))
    except csv.Error as fault:
        line = before + reader.line_num
        raise BrokenFile(f"line {line} is no row: {fault}", found=f"line {line}") from fault
    return tuple(rows)
