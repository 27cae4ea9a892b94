"""A statement is read once, whatever it is, and knows its kind."""

from __future__ import annotations

import pytest

from aspen.model.catalog import Catalog
from aspen.streamsql.compile import compile_asked
from aspen.streamsql.errors import NotAQuery, SyntaxRefused
from aspen.streamsql.statement import read_statement

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
