"""differential_: the seeds' queries parse, plan and run, and mean what DuckDB says they mean."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import duckdb
import pytest

from aspen.algebra.explain import plan_text
from aspen.log.entry import Change, Declare, Register, Tick, Transaction
from aspen.model.catalog import Catalog
from aspen.model.schema import Relation
from aspen.runtime.lane import Lane
from aspen.streamsql import compile_query, parse

DDL = """
CREATE TABLE region (r_regionkey INT NOT NULL, r_name TEXT);
CREATE TABLE nation (n_nationkey INT NOT NULL, n_name TEXT, n_regionkey INT);
CREATE TABLE customer (c_custkey INT NOT NULL, c_name TEXT, c_nationkey INT, c_mktsegment TEXT,
    c_acctbal DOUBLE, c_address TEXT, c_phone TEXT, c_comment TEXT);
CREATE TABLE orders (o_orderkey INT NOT NULL, o_custkey INT, o_orderdate TEXT, o_shippriority INT);
CREATE TABLE supplier (s_suppkey INT NOT NULL, s_name TEXT, s_nationkey INT);
CREATE TABLE part (p_partkey INT NOT NULL, p_name TEXT);
CREATE TABLE partsupp (ps_partkey INT NOT NULL, ps_suppkey INT NOT NULL, ps_availqty INT);
CREATE TABLE lineitem (l_orderkey INT NOT NULL, l_partkey INT, l_suppkey INT, l_quantity DOUBLE,
    l_extendedprice DOUBLE, l_discount DOUBLE, l_tax DOUBLE, l_returnflag TEXT, l_linestatus TEXT,
    l_shipdate TEXT)
"""
SEGTOLLS = """SELECT r1.expway, r1.dir, r1.seg, COUNT(DISTINCT r5.xpos) AS cars
FROM carlocstr [SIZE 300 TIME] r1,
     carlocstr [SIZE 1 TUPLE PARTITION BY expway, dir, seg] r2,
     carlocstr [SIZE 1 TUPLE PARTITION BY carid] r3,
     carlocstr [SIZE 30 TIME] r4,
     carlocstr [SIZE 4 TUPLE PARTITION BY carid] r5
WHERE r2.expway = r3.expway AND r2.dir = 0 AND r3.dir = 0 AND r2.seg < r3.seg
  AND r2.seg > r3.seg - 10 AND r3.carid = r4.carid AND r3.carid = r5.carid
  AND r1.expway = r2.expway AND r1.dir = r2.dir AND r1.seg = r2.seg
GROUP BY r5.carid, r1.expway, r1.dir, r1.seg"""
EXAMPLE_14 = """SELECT m.mid, sr.rid
FROM machines m, machinesoftware ms, seatsensor [SIZE 1 TUPLE PARTITION BY mid] ss,
     roomsensor [SIZE 1 TUPLE PARTITION BY rid] sr
WHERE ms.software = 'Word' AND ms.mid = m.mid AND ss.mid = m.mid AND ss.weightlevel < 5.0
  AND sr.rid = ss.rid AND sr.status = 'open'"""

TEXT = Path(__file__).with_name("seed_queries.sql").read_text(encoding="utf-8")
QUERIES = {
    part.split("\n")[0]: part.partition("\n")[2].strip().rstrip(";")
    for part in TEXT.split("-- ")[2:]
}
DAYS = [f"{year}-{month}-15" for year in range(1992, 1999) for month in ("02", "06", "07", "11")]


def catalog_of(ddl):
    relations = [s.relation for s in parse(ddl) if s.relation is not None]
    return Catalog.of(relations)


CATALOG = catalog_of(DDL)


def some_rows(relation: Relation, dice: random.Random, count: int) -> list[tuple]:
    """Rows that join: keys are small numbers, texts few; prices are eighths, so sums are exact."""
    texts = {
        "r_name": ["AMERICA", "ASIA"],
        "c_mktsegment": ["MACHINERY", "BUILDING"],
        "l_returnflag": ["R", "N"],
        "l_linestatus": ["O", "F"],
    }
    keys = {"orderkey": 6, "custkey": 3, "nationkey": 2, "regionkey": 2, "suppkey": 3, "partkey": 3}

    def value(name):
        stem = name.partition("_")[2]
        if stem in keys:
            return dice.randrange(keys[stem])
        if stem.endswith("date"):
            return dice.choice(DAYS)
        if stem in ("discount", "tax"):
            return dice.choice([0.0, 0.0625, 0.125])
        if stem in ("quantity", "extendedprice", "acctbal"):
            return dice.randrange(400) / 8
        if stem in ("availqty", "shippriority"):
            return dice.randrange(3)
        return dice.choice(texts.get(name, ["x", "y"]))

    return [tuple(map(value, relation.names)) for _ in range(count)]


class Engine:
    """A lane that maintains one query."""

    def __init__(self, catalog, query):
        self.lane = Lane()
        plan = compile_query(query, catalog).plan
        self.take(*(Declare(0.0, relation) for relation in catalog))
        self.take(Register(0.0, "q", plan_text(plan)))

    def take(self, *entries):
        self.lane.apply(list(enumerate(entries, start=self.lane.position + 1)))

    def rows(self):
        assert self.lane.views.by_name["q"].error is None
        return self.lane.rows("q")


@pytest.mark.parametrize("name", QUERIES)
def test_differential_tpc_h_forms_under_change(name):
    dice = random.Random(name)
    duck = duckdb.connect()
    duck.execute(DDL)
    engine = Engine(CATALOG, QUERIES[name])
    held: list[tuple[str, tuple]] = []
    seen = 0
    for _ in range(4):
        changes = [
            Change(relation.name, 1, row)
            for relation in CATALOG
            for row in some_rows(relation, dice, 18 if relation.name == "lineitem" else 4)
        ]
        held += [(change.relation, change.row) for change in changes]
        gone = [held.pop(dice.randrange(len(held))) for _ in range(len(held) // 4)]
        changes += [Change(relation, -1, row) for relation, row in gone]
        engine.take(Transaction(0.0, tuple(changes)))
        for relation in CATALOG:
            duck.execute(f"DELETE FROM {relation.name}")
            marks = ", ".join("?" * len(relation.columns))
            rows = [row for table, row in held if table == relation.name]
            duck.executemany(f"INSERT INTO {relation.name} VALUES ({marks})", rows)
        wanted = Counter(duck.execute(QUERIES[name]).fetchall())
        assert engine.rows() == wanted
        seen += len(wanted)
    assert seen, f"{name} never had a row"


def test_differential_toll_segments_over_windows():
    ddl = """CREATE STREAM carlocstr (carid INT NOT NULL, expway INT NOT NULL, dir INT NOT NULL,
        seg INT NOT NULL, xpos INT NOT NULL)"""
    engine = Engine(catalog_of(ddl), SEGTOLLS)
    dice = random.Random(7)
    duck = duckdb.connect()
    duck.execute(
        "CREATE TABLE car (n INT, came DOUBLE, carid INT, expway INT, dir INT, seg INT, xpos INT)"
    )
    newest = (
        "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY {} ORDER BY n DESC) AS place"
        " FROM car) WHERE place <= {}"
    )
    now_s = count = seen = 0
    for _ in range(25):
        now_s += dice.randrange(5, 40)
        for _ in range(dice.randrange(1, 4)):
            row = (
                dice.randrange(3),
                dice.randrange(2),
                dice.randrange(2),
                dice.randrange(4),
                dice.randrange(9),
            )
            engine.take(Transaction(float(now_s), (Change("carlocstr", 1, row),)))
            count += 1
            duck.execute("INSERT INTO car VALUES (?, ?, ?, ?, ?, ?, ?)", (count, now_s, *row))
        engine.take(Tick(float(now_s)))
        windows = {
            "r1": f"SELECT * FROM car WHERE came > {now_s - 300}",
            "r2": newest.format("expway, dir, seg", 1),
            "r3": newest.format("carid", 1),
            "r4": f"SELECT * FROM car WHERE came > {now_s - 30}",
            "r5": newest.format("carid", 4),
        }
        query = SEGTOLLS
        for alias, rows in windows.items():
            start = query.index("carlocstr [")
            query = query[:start] + f"({rows})" + query[query.index(f"] {alias}") + 1 :]
        wanted = Counter(duck.execute(query).fetchall())
        assert engine.rows() == wanted
        seen += len(wanted)
    assert seen


def test_example_14_frees_and_takes_machines():
    ddl = """CREATE TABLE machines (mid TEXT PRIMARY KEY, host TEXT);
        CREATE TABLE machinesoftware (mid TEXT NOT NULL, software TEXT NOT NULL);
        CREATE STREAM seatsensor (mid TEXT PRIMARY KEY, rid TEXT NOT NULL,
            weightlevel FLOAT UNIT 'kg' NOT NULL) FROM DEVICE seat SAMPLE EVERY 5 SECONDS;
        CREATE STREAM roomsensor (rid TEXT PRIMARY KEY, status TEXT NOT NULL)"""
    engine = Engine(catalog_of(ddl), EXAMPLE_14)

    def change(relation, *row):
        engine.take(Transaction(0.0, (Change(relation, 1, row),)))

    change("machines", "m1", "pc1")
    change("machinesoftware", "m1", "Word")
    change("roomsensor", "r1", "open")
    change("seatsensor", "m1", "r1", 0.0)
    assert engine.rows() == {("m1", "r1"): 1}
    change("seatsensor", "m1", "r1", 70.0)
    assert engine.rows() == {}
    change("seatsensor", "m1", "r1", 1.0)
    change("roomsensor", "r1", "closed")
    assert engine.rows() == {}
