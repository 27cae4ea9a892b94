"""oracle_: rows of values are compared as SQLite does, nulls among them too."""

from __future__ import annotations

import sqlite3
from itertools import product

import pytest

from aspen.model.catalog import Catalog
from aspen.streamsql import compile_query
from aspen.views.evaluate_once import evaluate_once

ROWS = list(product(("NULL", "1", "2"), repeat=2))


@pytest.mark.parametrize("symbol", ["=", "<>", "<", "<=", ">", ">="])
def test_oracle_every_two_rows(symbol):
    pairs = [f"({', '.join(one)}) {symbol} ({', '.join(two)})" for one, two in product(ROWS, ROWS)]
    query = f"SELECT {', '.join(f'{pair} AS c{number}' for number, pair in enumerate(pairs))}"
    (ours,) = evaluate_once(compile_query(query, Catalog.of([])).plan, ())
    theirs = sqlite3.connect(":memory:").execute(query).fetchone()
    assert ours == theirs
    assert set(ours) == {None, True, False}
