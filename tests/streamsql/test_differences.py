"""Every difference from DuckDB that the guide names is one, and is as it says."""

from __future__ import annotations

import math
import re
from pathlib import Path

import duckdb
import pytest
from streamsql.test_differential_duckdb import CATALOG, DDL

from aspen.errors import AspenError
from aspen.streamsql import compile_query
from aspen.views.evaluate_once import evaluate_once

GUIDE = Path(__file__).parent.parent.parent / "docs" / "differences.md"
LINE = re.compile(r"^\| `(SELECT .+?)` \| (.+?) \| (.+?) \| .+ \|$", re.MULTILINE)
LINES = LINE.findall(GUIDE.read_text(encoding="utf-8"))


def spelt(value):
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return f"'{value}'"
    if isinstance(value, tuple):
        return str(list(value))
    return "nan" if isinstance(value, float) and math.isnan(value) else str(value)


def theirs(query):
    connection = duckdb.connect()
    connection.execute(DDL)
    try:
        ((value,),) = connection.execute(query).fetchall()
    except duckdb.Error:
        return "error"
    return spelt(value)


def ours(query):
    try:
        plan = compile_query(query, CATALOG).plan
        ((value,),) = evaluate_once(plan, CATALOG.relations.values())
    except AspenError:
        return "error"
    return spelt(value)


def test_the_guide_names_some():
    assert len(LINES) > 15


@pytest.mark.parametrize(("query", "here", "there"), LINES)
def test_each_difference_is_as_the_guide_says(query, here, there):
    assert ours(query) == here
    assert theirs(query) == there
    assert here != there
