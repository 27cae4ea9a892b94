"""sqllogictest scripts run, and the report says what became of each record."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.sqllogic.records import Halt, Query, Statement, read_records
from tests.sqllogic.runner import Runner

SCRIPTS = sorted((Path(__file__).parent / "scripts").glob("*.test"))


def run(text: str):
    return Runner().run(text)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_passes(path):
    report = run(path.read_text(encoding="utf-8"))
    wrong = [finding for finding in report.findings if finding.outcome == "failed"]
    assert not wrong
    assert report.count("passed") > 5


def test_records_are_read_with_their_places():
    text = """# a comment
statement ok
CREATE TABLE t(a INTEGER)

skipif aspen
query I rowsort label-1
SELECT a
FROM t
----
1
2

onlyif mysql
halt

query T
SELECT 1
----
3 values hashing to 0123456789abcdef0123456789abcdef

halt
"""
    records = list(read_records(text, "aspen"))
    assert [type(record) for record in records] == [Statement, Query, Halt, Query, Halt]
    assert [record.line for record in records] == [2, 6, 14, 16, 21]
    query = records[1]
    assert (query.sort, query.label, query.sql) == ("rowsort", "label-1", "SELECT a\nFROM t")
    assert (query.skip, query.expected) == ("skipif aspen", ("1", "2"))
    assert records[2].skip == "onlyif mysql"
    assert (records[3].count, records[3].digest[:4]) == (3, "0123")


@pytest.mark.parametrize(
    ("expected", "outcome"),
    [
        ("1\n2\n2\n3", "passed"),
        ("1\t2\n2\t3", "passed"),
        ("2\t3\n1\t2", "failed"),
        ("1\t2", "failed"),
        ("1\t2\n2\t4", "failed"),
        ("1.0\t2.000\n2\t3", "passed"),
        ("4 values hashing to 0d3a9c5a9e3d5c9f8f4b3f2f6d8e9a1b", "failed"),
    ],
)
def test_results_are_compared_by_value_and_order(expected, outcome):
    text = f"""statement ok
CREATE TABLE t(a INTEGER, b REAL)

statement ok
INSERT INTO t VALUES (2, 3), (1, 2)

query IR nosort
SELECT a, b FROM t ORDER BY a
----
{expected}
"""
    assert run(text).findings[-1].outcome == outcome


def test_statements_that_should_fail_and_do_not_are_failures():
    report = run(
        """statement ok
CREATE TABLE t(a INTEGER PRIMARY KEY)

statement error
INSERT INTO t VALUES (1), (1)

statement error
INSERT INTO t VALUES (1)

statement ok
SELECT nothing FROM t

statement count 1
DELETE FROM t
"""
    )
    outcomes = [finding.outcome for finding in report.findings]
    assert outcomes == ["passed", "passed", "failed", "failed", "passed"]
    assert report.summary == "3 passed, 2 failed, 0 skipped"


def test_a_refused_row_leaves_nothing_behind():
    report = run(
        """statement ok
CREATE TABLE t(a INTEGER UNIQUE, b TEXT NOT NULL)

statement error
INSERT INTO t VALUES (1, 'x'), (2, NULL)

query I
SELECT COUNT(*) FROM t
----
0

statement ok
INSERT INTO t VALUES (1, 'x'), (NULL, 'y'), (NULL, 'z')

statement error
UPDATE t SET a = 1

query IT rowsort
SELECT * FROM t
----
1	x
NULL	y
NULL	z
"""
    )
    assert report.count("failed") == 0


def test_every_skip_says_why():
    report = run(
        """onlyif mysql
query I
SELECT 1 DIV 1
----
1

statement ok
CREATE INDEX i ON t(a)

query T
SELECT total(a) FROM (SELECT 1 AS a) t
----
1

require parquet
"""
    )
    assert report.summary == "0 passed, 0 failed, 4 skipped"
    assert all(finding.reason for finding in report.findings)


def test_loops_and_what_a_file_lacks_are_skipped():
    report = run(
        """loop i 0 3

statement ok
INSERT INTO t VALUES (${i})

endloop

query I
SELECT 1
----
1

require parquet

query I
SELECT 1
----
2
"""
    )
    assert [f.outcome for f in report.findings] == ["skipped"] * 3 + ["passed"] + ["skipped"] * 2


def test_views_are_looked_at_again_after_later_statements(monkeypatch):
    runner = Runner()
    text = """statement ok
CREATE TABLE t(a INTEGER)

query I
SELECT COUNT(*) FROM t
----
0

statement ok
INSERT INTO t VALUES (1)
"""
    # A database whose answer from scratch is off shows that the comparison is made.
    monkeypatch.setattr(runner.database, "from_scratch", lambda _name: {(7,): 1})
    report = runner.run(text)
    assert [finding.outcome for finding in report.findings] == ["passed"] * 3 + ["failed"]
    assert "after later statements" in report.findings[-1].reason


def test_the_command_counts_files_together(tmp_path, capsys):
    good, bad = tmp_path / "good.test", tmp_path / "bad.test"
    good.write_text("query I\nSELECT 1\n----\n1\n")
    bad.write_text("query I\nSELECT 1\n----\n2\n")
    call_command("sqllogic", str(good))
    assert capsys.readouterr().out.splitlines()[-1] == "1 passed, 0 failed, 0 skipped"
    with pytest.raises(CommandError):
        call_command("sqllogic", str(good), str(bad))
    told = capsys.readouterr().out
    assert "bad.test:1: failed" in told
    assert told.splitlines()[-1] == "1 passed, 1 failed, 0 skipped"
