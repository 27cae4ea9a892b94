"""Rows as tuples, mappings, pandas and Arrow; files of readings."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from smartcis.client import Problem, Rows, RowsColumn
from smartcis.client.readings_file import readings_in

COLUMNS = [
    RowsColumn("sid", "TEXT", ""),
    RowsColumn("n", "INT", ""),
    RowsColumn("celsius", "FLOAT", "°C"),
    RowsColumn("on", "BOOL", ""),
]
VALUES = [["s1", 1, 21, True], [None, None, None, None]]


def rows_of(values, **more):
    return Rows(COLUMNS, values, epoch=1, position=2, at_s=3.0, **more)


def test_rows_are_named_tuples_and_mappings():
    rows = rows_of(VALUES, total=9)
    assert (rows[0].celsius, rows[0][0], len(rows), rows.complete) == (21, "s1", 2, False)
    assert next(rows.mappings()) == {"sid": "s1", "n": 1, "celsius": 21, "on": True}
    assert rows[0] == ("s1", 1, 21, True)


def test_odd_names_of_columns_are_numbered():
    names = ("class", "a", "a", "_x", "1")
    columns = [RowsColumn(name, "INT", "") for name in names]
    row = Rows(columns, [[1, 2, 3, 4, 5]], epoch=1, position=1, at_s=0.0)[0]
    assert row._fields == ("_0", "a", "_2", "_3", "_4")
    assert list(row) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("values", [VALUES, []])
def test_rows_become_a_frame(values):
    frame = rows_of(values).to_pandas()
    assert [str(one) for one in frame.dtypes] == ["object", "Int64", "float64", "boolean"]
    assert frame.attrs["units"] == {"celsius": "°C"}
    assert len(frame) == len(values)
    if values:
        assert pd.isna(frame["n"][1])
        assert frame["n"][0] == 1


@pytest.mark.parametrize("values", [VALUES, []])
def test_rows_become_an_arrow_table(values):
    table = rows_of(values).to_arrow()
    assert [str(one) for one in table.schema.types] == ["string", "int64", "double", "bool"]
    assert table.schema.field("celsius").metadata == {b"unit": "°C".encode()}
    assert [list(row.values()) for row in table.to_pylist()] == values


@pytest.mark.parametrize(("method", "library"), [("to_pandas", "pandas"), ("to_arrow", "pyarrow")])
def test_a_missing_library_is_named(monkeypatch, method, library):
    monkeypatch.setitem(__import__("sys").modules, library, None)
    with pytest.raises(ImportError, match=f"pip install {library}"):
        getattr(rows_of(VALUES), method)()


READING = {"sid": "s1", "value": 21.5, "unit": "°C"}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([READING, READING]),
        f"{json.dumps(READING)}\n\n{json.dumps(READING)}\n",
        "\ufeffsid,value,unit,at_s\ns1,21.5,°C,\ns1,21.5,°C,\n",
        "\n" + json.dumps([READING, READING], indent=2),
    ],
)
def test_a_file_of_readings(text):
    assert list(readings_in(text.splitlines(keepends=True), "file")) == [READING, READING]


@pytest.mark.parametrize(
    ("text", "number"),
    [("[1]", 1), ("[", 1), ('{"sid": 1}\n{', 2), ("sid,value\ns,x\n", 1), ("sid\ns\ns,t\n", 2)],
)
def test_a_file_of_something_else_is_one_problem(text, number):
    with pytest.raises(Problem, match=f"from number {number} on"):
        list(readings_in(text.splitlines(keepends=True), "file"))


def test_an_empty_file_holds_nothing():
    assert list(readings_in([], "file")) == []
