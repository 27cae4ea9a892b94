"""differential_: StreamSQL over tables means what DuckDB says the same SQL means."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aspen.algebra.rewrite import flat, rewrite
from aspen.model.catalog import Catalog
from aspen.model.schema import Column, Relation, Type
from aspen.streamsql import compile_query, parse
from aspen.streamsql.bind import bind
from tests.oracle import evaluate

CATALOG = Catalog.of(
    [
        Relation(
            "machine",
            (
                Column("mid", Type.TEXT),
                Column("rid", Type.TEXT),
                Column("node", Type.INT),
                Column("load", Type.FLOAT, "%", True),
            ),
        ),
        Relation(
            "room", (Column("rid", Type.TEXT), Column("level", Type.INT), Column("lab", Type.BOOL))
        ),
        Relation("edge", tuple(Column(n, Type.INT) for n in ("src", "dst", "len"))),
        Relation("booking", (Column("rid", Type.TEXT, "", True), Column("node", Type.INT))),
    ]
)
DDL = """CREATE TABLE machine (mid TEXT, rid TEXT, node INT, load DOUBLE);
CREATE TABLE room (rid TEXT, level INT, lab BOOL);
CREATE TABLE edge (src INT, dst INT, len INT);
CREATE TABLE booking (rid TEXT, node INT);"""

small = st.integers(0, 4)
rid = st.sampled_from(["r1", "r2", "r3"])
machine = st.tuples(
    st.sampled_from(["m1", "m2", "m3", "m4"]),
    rid,
    small,
    st.none() | st.sampled_from([0.0, 0.5, 80.0]),
)
rows = st.fixed_dictionaries(
    {
        "machine": st.lists(machine, max_size=6),
        "room": st.lists(st.tuples(rid, st.integers(0, 2), st.booleans()), max_size=4),
        "edge": st.lists(st.tuples(small, small, st.integers(0, 5)), max_size=7),
        "booking": st.lists(st.tuples(st.none() | rid, small), max_size=4),
    }
)

SQL = Path(__file__).with_name("differential.sql").read_text(encoding="utf-8")
QUERIES = [query.strip() for query in SQL.split(";") if query.strip()]


@pytest.mark.parametrize("query", QUERIES, ids=range(len(QUERIES)))
def test_differential_duckdb_gives_the_same_rows(query):
    connection = duckdb.connect()
    connection.execute(DDL)

    @settings(max_examples=12, deadline=None)
    @given(rows)
    def same(tables):
        for name, content in tables.items():
            connection.execute(f"DELETE FROM {name}")
            if content:
                marks = ", ".join("?" * len(content[0]))
                connection.executemany(f"INSERT INTO {name} VALUES ({marks})", content)
        wanted = Counter(connection.execute(query).fetchall())
        contents = {name: dict(Counter(content)) for name, content in tables.items()}
        plain = flat(bind(parse(query)[0], CATALOG).plan)
        assert evaluate(plain, contents) == wanted
        assert evaluate(rewrite(plain), contents) == wanted

    same()


@settings(max_examples=25, deadline=None)
@given(rows)
def test_differential_min_in_recursion_is_the_cheapest_of_all_walks(tables):
    ours = compile_query(
        """WITH RECURSIVE walk(node, cost) AS (
             SELECT node, 0 FROM booking
           UNION SELECT e.dst, MIN(w.cost + e.len) FROM walk w, edge e WHERE e.src = w.node
             GROUP BY e.dst
           ) SELECT node, cost FROM walk""",
        CATALOG,
    )
    connection = duckdb.connect()
    connection.execute(DDL)
    for name, content in tables.items():
        if content:
            marks = ", ".join("?" * len(content[0]))
            connection.executemany(f"INSERT INTO {name} VALUES ({marks})", content)
    # No cheapest walk has more hops than there are nodes.
    theirs = connection.execute(
        """WITH RECURSIVE walk(node, cost, hops) AS (
             SELECT node, 0, 0 FROM booking
           UNION SELECT e.dst, w.cost + e.len, w.hops + 1 FROM walk w, edge e
             WHERE e.src = w.node AND w.hops < 5
           ) SELECT node, MIN(cost) FROM walk GROUP BY node"""
    ).fetchall()
    contents = {name: dict(Counter(content)) for name, content in tables.items()}
    assert evaluate(ours.plan, contents) == Counter(theirs)
