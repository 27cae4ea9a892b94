"""A statement is read once, whatever it is, and knows its kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from aspen.model.catalog import Catalog
from aspen.streamsql.compile import compile_asked
from aspen.streamsql.errors import NotAQuery, SyntaxRefused, Unsupported
from aspen.streamsql.show import statement_text
from aspen.streamsql.statement import parse, read_statement

PARSED = Path(__file__).parent.parent / "golden" / "01_parse"

KINDS = {
    "SELECT 1": "query",
    "CREATE VIEW v AS SELECT 1 AS one": "query",
    "ONCE SELECT 1": "once",
    "CREATE TABLE t (a INT)": "CREATE TABLE",
    "CREATE STREAM t (a INT)": "CREATE STREAM",
    "DROP TABLE t": "DROP",
    "INSERT INTO t VALUES (1)": "INSERT",
    "DELETE FROM t WHERE a = 1": "DELETE",
    "UPDATE t SET a = 2": "UPDATE",
}


@pytest.mark.parametrize("text", KINDS)
def test_a_statement_knows_its_kind(text):
    statement = read_statement(text)
    assert statement.kind == KINDS[text]
    assert statement.text == text
    assert statement.at.line == 1


@pytest.mark.parametrize("text", ["", "SELECT 1; SELECT 2", "SELECT FROM"])
def test_a_text_of_no_single_statement_is_refused(text):
    with pytest.raises(SyntaxRefused):
        read_statement(text)


def test_what_changes_something_is_not_compiled_as_a_query():
    with pytest.raises(NotAQuery) as caught:
        compile_asked(read_statement("  INSERT INTO t VALUES (1)"), Catalog())
    assert caught.value.found == "INSERT"
    assert (caught.value.position.column, caught.value.position.length) == (3, 6)


@pytest.mark.parametrize(
    "path",
    sorted(set(PARSED.glob("*.test")) - set(PARSED.glob("*.fail.test"))),
    ids=lambda path: path.stem,
)
def test_what_border_1_prints_reads_back(path):
    for statement in parse(
        path.read_text(encoding="utf-8").partition("----")[0].partition("\n")[2]
    ):
        if statement.relation is not None:
            continue
        (again,) = parse(statement_text(statement))
        assert again.tree == statement.tree
        assert (again.kind, again.name) == (statement.kind, statement.name)
        assert statement_text(again) == statement_text(statement)


def test_an_order_behind_with_is_kept_for_readers():
    text = "WITH one AS (SELECT 2 AS b, 1 AS a) SELECT b FROM one ORDER BY a DESC"
    compiled = compile_asked(read_statement(text), Catalog())
    assert compiled.order is not None
    assert [key.descending for key in compiled.order.keys] == [True]


@pytest.mark.parametrize("text", ["SELECT (*) FROM one", "SELECT 1 AS a FROM one ORDER BY one.*"])
def test_a_star_stands_for_columns_in_a_select_list_alone(text):
    with pytest.raises(Unsupported):
        compile_asked(read_statement(f"WITH one AS (SELECT 1 AS b) {text}"), Catalog())


def test_an_empty_name_is_refused_as_any_text_that_makes_no_sense():
    with pytest.raises(SyntaxRefused):
        read_statement("CREATE = STREAM . (a) KEY (a)")


@pytest.mark.parametrize(
    "text", ["DELETE VIEW FROMdoor WHERE a = 'x'", "DROP VIEW ORDER, v", "DROP TABLE a, b"]
)
def test_a_change_without_one_target_is_refused(text):
    with pytest.raises(Unsupported) as refused:
        read_statement(text)
    assert refused.value.position is not None
    assert refused.value.attempt
