"""The programs of the seeds' section 3.1: as rules and as StreamSQL, from scratch and kept."""

from __future__ import annotations

import random
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aspen.algebra.explain import plan_text
from aspen.algebra.plan import relations_of
from aspen.algebra.read import read_plan
from aspen.overlog import compile_program
from aspen.streamsql import Compiled, compile_views
from overlog.lane import Host
from overlog.network import CATALOG, NAMES, answers, text_of
from overlog.plain import EXPECTED

NODES = "abcde"
node = st.sampled_from(NODES)
value = {
    "TEXT": node,
    "INT": st.integers(1, 4),
    "FLOAT": st.sampled_from([18.5, 20.0, 21.5]),
}


@cache
def rules_of(name: str) -> list[Compiled]:
    return compile_program(text_of(name, "overlog"), CATALOG)


@cache
def sql_of(name: str) -> list[Compiled]:
    return compile_views({name: text_of(name, "streamsql")}, CATALOG)


def row_of(relation: str) -> st.SearchStrategy[tuple]:
    return st.tuples(*(value[column.type.value] for column in CATALOG.get(relation).columns))


def bases(name: str) -> list[str]:
    read = frozenset[str]().union(*(relations_of(view.plan) for view in rules_of(name)))
    return sorted(read & set(CATALOG.relations))


def as_delta(rows: dict[str, set[tuple]]) -> dict[str, dict[tuple, int]]:
    return {relation: dict.fromkeys(held, 1) for relation, held in rows.items()}


def test_every_program_exists_twice_and_in_plain_python():
    assert set(NAMES) == set(EXPECTED)
    for name in NAMES:
        assert {v.name for v in rules_of(name)} == {v.name for v in sql_of(name)}


@pytest.mark.parametrize("name", NAMES)
def test_a_program_has_the_columns_of_its_query(name):
    sql = {view.name: view for view in sql_of(name)}
    for view in rules_of(name):
        twin = sql[view.name].relation.columns
        assert [(c.type, c.unit) for c in view.relation.columns] == [(c.type, c.unit) for c in twin]


@pytest.mark.parametrize("name", NAMES)
def test_plan_text_carries_every_program(name):
    for view in rules_of(name):
        assert read_plan(plan_text(view.plan)) == view.plan


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_oracle_rules_queries_and_plain_python_agree(name, data):
    rows = {
        relation: data.draw(st.sets(row_of(relation), max_size=9), label=relation)
        for relation in bases(name)
    }
    by_rules = answers(rules_of(name), as_delta(rows))
    assert by_rules == answers(sql_of(name), as_delta(rows))
    expected = {view: dict.fromkeys(held, 1) for view, held in EXPECTED[name](rows).items()}
    assert close(by_rules) == close(expected)


def close(found: dict[str, dict[tuple, int]]) -> dict[str, dict[tuple, int]]:
    """Round means, which plain Python sums in another order."""
    return {
        view: {
            tuple(round(v, 9) if isinstance(v, float) else v for v in row): weight
            for row, weight in rows.items()
        }
        for view, rows in found.items()
    }


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_incremental_rules_and_queries_equal_the_oracle_after_every_change(name, data):
    rules, sql = rules_of(name), sql_of(name)
    by_rules, by_sql = Host(CATALOG, rules), Host(CATALOG, sql)
    read = bases(name)
    deed = st.sampled_from(read).flatmap(
        lambda relation: st.tuples(st.just(relation), row_of(relation), st.integers(0, 99))
    )
    epochs = st.lists(st.lists(deed, min_size=1, max_size=4), min_size=6, max_size=14)
    for epoch in data.draw(epochs):
        changes = []
        for relation, drawn, which in epoch:
            # Every other deed takes away a row that is there; a drawn row that is there goes too.
            held = sorted(by_rules.tables[relation])
            changes.append((relation, held[which % len(held)] if held and which % 2 else drawn))
        by_rules.change(changes)
        by_sql.change(changes)
        assert by_rules.rows() == answers(rules, by_rules.tables)
        assert by_sql.rows() == answers(sql, by_sql.tables)
        assert by_rules.rows() == by_sql.rows()
    by_rules.change([(name, row) for name, held in by_rules.tables.items() for row in held])
    assert by_rules.rows() == {view: {} for view in by_rules.rows()}


LIVES = {"TEXT": "abcdefg", "INT": range(1, 5), "FLOAT": (18.5, 20.0, 21.5)}


@pytest.mark.parametrize("name", NAMES)
def test_incremental_rules_and_queries_live_long_on_a_denser_network(name):
    chance = random.Random(7)
    rules, sql = rules_of(name), sql_of(name)
    by_rules, by_sql = Host(CATALOG, rules), Host(CATALOG, sql)
    deleted = 0
    for _ in range(150):
        changes: dict[tuple[str, tuple], None] = {}
        for _ in range(chance.randint(1, 3)):
            relation = chance.choice(bases(name))
            held = sorted(by_rules.tables[relation])
            # About 20 of 49 links stay; the random row takes some away, too.
            if chance.random() < len(held) / 150:
                row = chance.choice(held)
            else:
                columns = CATALOG.get(relation).columns
                row = tuple(chance.choice(LIVES[column.type.value]) for column in columns)
            changes[relation, row] = None
            deleted += row in by_rules.tables[relation]
        by_rules.change(changes)
        by_sql.change(changes)
        assert by_rules.rows() == by_sql.rows() == answers(rules, by_rules.tables)
    assert deleted > 60
