"""differential_: recursion kept by the engine, against DuckDB's own recursion after each change.

DuckDB's is linear, and its one recursive query is a set or, USING KEY, one row per key: the same
question is put to it in that form.
"""

from __future__ import annotations

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aspen.model.catalog import Catalog
from aspen.model.schema import Column, Relation, Type
from aspen.streamsql import compile_views
from overlog.lane import Host

CATALOG = Catalog.of(
    [
        Relation("edge", tuple(Column(n, Type.INT) for n in ("src", "dst", "len"))),
        Relation("closed", (Column("node", Type.INT),)),
    ]
)

CASES = {
    "doubling": (
        """WITH RECURSIVE far(src, dst) AS (
             SELECT src, dst FROM edge
           UNION SELECT a.src, b.dst FROM far a JOIN far b ON b.src = a.dst
           ) SELECT src, dst FROM far""",
        """WITH RECURSIVE far(src, dst) AS (
             SELECT src, dst FROM edge
           UNION SELECT f.src, e.dst FROM far f JOIN edge e ON e.src = f.dst
           ) SELECT src, dst FROM far""",
    ),
    "even": (
        """WITH MUTUALLY RECURSIVE
             even(src, dst) AS (SELECT o.src, e.dst FROM odd o JOIN edge e ON e.src = o.dst),
             odd(src, dst) AS (
               SELECT src, dst FROM edge
             UNION SELECT v.src, e.dst FROM even v JOIN edge e ON e.src = v.dst)
           SELECT src, dst FROM even""",
        """WITH RECURSIVE far(src, dst, parity) AS (
             SELECT src, dst, 1 FROM edge
           UNION SELECT f.src, e.dst, 1 - f.parity FROM far f JOIN edge e ON e.src = f.dst
           ) SELECT DISTINCT src, dst FROM far WHERE parity = 0""",
    ),
    "open_ways": (
        """WITH RECURSIVE far(src, dst) AS (
             SELECT src, dst FROM edge
           UNION SELECT f.src, e.dst FROM far f JOIN edge e ON e.src = f.dst
             WHERE NOT EXISTS (SELECT 1 FROM closed c WHERE c.node = f.src)
               AND NOT EXISTS (SELECT 1 FROM closed c WHERE c.node = e.src)
           ) SELECT src, dst FROM far""",
        """WITH RECURSIVE far(src, dst) AS (
             SELECT src, dst FROM edge
           UNION SELECT f.src, e.dst FROM far f JOIN edge e ON e.src = f.dst
             WHERE f.src NOT IN (SELECT node FROM closed)
               AND e.src NOT IN (SELECT node FROM closed)
           ) SELECT src, dst FROM far""",
    ),
    "cheapest_by_doubling": (
        """WITH RECURSIVE walk(src, dst, cost) AS (
             SELECT src, dst, len FROM edge
           UNION SELECT a.src, b.dst, MIN(a.cost + b.cost) FROM walk a JOIN walk b
             ON b.src = a.dst GROUP BY a.src, b.dst
           ) SELECT src, dst, cost FROM walk""",
        """WITH RECURSIVE walk(src, dst, cost) USING KEY (src, dst) AS (
             SELECT src, dst, MIN(len) FROM edge GROUP BY src, dst
           UNION
             SELECT w.src, e.dst, MIN(w.cost + e.len)
             FROM walk w JOIN edge e ON e.src = w.dst
             LEFT JOIN recurring.walk known ON known.src = w.src AND known.dst = e.dst
             WHERE known.cost IS NULL OR w.cost + e.len < known.cost
             GROUP BY w.src, e.dst
           ) SELECT src, dst, cost FROM walk""",
    ),
}

small = st.integers(0, 4)
moves = st.one_of(
    st.tuples(st.just("edge"), st.tuples(small, small, st.integers(0, 5))),
    st.tuples(st.just("edge"), st.tuples(small, small, st.integers(0, 5))),
    st.tuples(st.just("closed"), st.tuples(small)),
)
epochs = st.lists(st.lists(moves, min_size=1, max_size=4, unique=True), min_size=2, max_size=6)


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(changes=epochs)
def test_differential_after_every_change(name, changes):
    ours, theirs = CASES[name]
    host = Host(CATALOG, compile_views({name: f"CREATE VIEW {name} AS {ours}"}, CATALOG))
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("CREATE TABLE edge (src INT, dst INT, len INT)")
    connection.execute("CREATE TABLE closed (node INT)")
    for epoch in changes:
        host.change(epoch)
        for table, rows in host.tables.items():
            connection.execute(f"DELETE FROM {table}")
            if rows:
                marks = ", ".join("?" * len(next(iter(rows))))
                connection.executemany(f"INSERT INTO {table} VALUES ({marks})", list(rows))
        found = connection.execute(theirs).fetchall()
        assert host.rows()[name] == dict.fromkeys(found, 1)
