"""differential_: maintained answers are DuckDB's after every change, whatever query and change.

seed ── ten queries ── parse, bind, flat, rewrite ──> one lane ──┐
     ── epochs of insertions, deletions, updates ────────────────┼──> the lane's == DuckDB's
                                                        DuckDB ──┘
"""

from __future__ import annotations

import logging
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from streamsql.duck import Duck, Unanswered
from streamsql.random_forms import FormWriter
from streamsql.random_sql import CATALOG, TABLES, Writer, queries, rows_of, seeded_history
from streamsql.second_opinion import second_opinion

from aspen.algebra.explain import plan_text
from aspen.algebra.rewrite import flat, rewrite
from aspen.log.entry import Change, Declare, Register, Transaction
from aspen.runtime.lane import Lane
from aspen.streamsql.bind import bind
from aspen.streamsql.errors import NonStratified
from aspen.streamsql.statement import parse

SEEDS_AT_ONCE = 100  # of ten queries each
logger = logging.getLogger(__name__)


@pytest.fixture(scope="module")
def duck():
    return Duck()


def follow(duck, asked, history, name=""):
    """Compares all answers after every epoch; returns how many queries came to what."""
    plans = {f"q{number}": planned(query) for number, query in enumerate(asked)}
    met = Counter(queries=len(asked), recursive=sum("RECURSIVE" in query for query in asked))
    met["refused"] = sum(plan is None for plan in plans.values())
    lane, tables = Lane(), {table: [] for table in TABLES}
    answers = {view: [] for view, plan in plans.items() if plan is not None}
    registered = [Register(0.0, view, plans[view]) for view in answers]
    # Half of the views begin over empty tables, half over what the first epoch brings.
    early = len(registered) // 2
    take(lane, *(Declare(0.0, relation) for relation in CATALOG), *registered[:early])
    for number, changes in enumerate(history):
        for table, weight, row in changes:
            (tables[table].append if weight > 0 else tables[table].remove)(row)
        take(lane, Transaction(0.0, tuple(Change(*change) for change in changes)))
        if number == 0:
            take(lane, *registered[early:])
        duck.hold(tables)
        for view in list(answers):
            query = asked[int(view[1:])]
            told = f"{name}, epoch {number}: {query}\nover {tables}"
            if left_out := compared(duck, query, tables, lane, view, told):
                met[left_out] += 1
                del answers[view]
            else:
                answers[view].append(lane.rows(view))
    met["compared"] = sum(map(len, answers.values()))
    met["moved"] = sum(any(one != found[0] for one in found) for found in answers.values())
    return met


def planned(query):
    """Returns a query's plan; None where its recursion has no least answer."""
    (statement,) = parse(query)
    try:
        return plan_text(rewrite(flat(bind(statement, CATALOG).plan)))
    except NonStratified:
        return None


def take(lane, *entries):
    lane.apply(list(enumerate(entries, start=lane.position + 1)))


def compared(duck, query, tables, lane, view, told):
    """Compares one answer with DuckDB's; returns why it may not be, empty when it is the same."""
    error = lane.views.by_name[view].error
    if error is not None and error["code"] == "aspen.views.not_maintainable":
        assert "RECURSIVE" in query, told
        return "refused"
    assert error is None, f"{told}: {error}"
    ours = lane.rows(view)
    try:
        theirs = duck.ask(query)
        if ours == theirs:
            return ""
        if ours != duck.ask_optimized(query):
            assert ours == second_opinion(query, tables), f"{told}\n{ours} is not {theirs}"
    except Unanswered:
        return "unanswered"
    return "contradicted"  # DuckDB, by itself or by SQLite


def follow_seeds(duck, seeds, kind=Writer):
    told = ((seeded_history(seed, kind=kind), f"seed {seed}") for seed in seeds)
    met = sum((follow(duck, *history, name=name) for history, name in told), Counter())
    # Enough of it means something, and what is left out is little.
    assert met["moved"] > met["queries"] / 4, met
    assert met["recursive"] > met["queries"] / 5, met
    assert met["refused"] < met["queries"] / 20, met
    assert met["contradicted"] + met["unanswered"] <= 1 + met["queries"] / 500, met
    return met


def history_of(drawn):
    """Returns epochs of changes from what Hypothesis drew: rows, and places of some that go."""
    tables, history = {table: [] for table in TABLES}, []
    for epoch in drawn:
        changes = []
        for table, row, place in epoch:
            rows = tables[table]
            goes = place is not None and bool(rows)
            changes.append((table, -1, rows.pop(place % len(rows))) if goes else (table, 1, row))
            rows += [] if goes else [row]
        history.append(changes)
    return history


quick = settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
one_change = st.sampled_from(sorted(TABLES)).flatmap(
    lambda table: st.tuples(st.just(table), rows_of(table), st.none() | st.integers(0, 9))
)
histories = st.lists(st.lists(one_change, min_size=1, max_size=4), min_size=1, max_size=5)


@settings(quick, max_examples=50)
@given(query=queries(), drawn=histories)
def test_differential_maintained_queries(duck, query, drawn):
    assert follow(duck, [query], history_of(drawn))["compared"] == len(drawn)


def test_differential_seeded_histories(duck):
    follow_seeds(duck, range(20))


def test_differential_seeded_histories_of_more_forms(duck):
    follow_seeds(duck, range(12), FormWriter)


@pytest.mark.nightly
@settings(quick, max_examples=3000)
@given(query=queries(), drawn=histories)
def test_differential_many_maintained_queries(duck, query, drawn):
    follow(duck, [query], history_of(drawn))


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(20, 7_520, SEEDS_AT_ONCE))
def test_differential_75_000_queries_with_changes_between(duck, first):
    logger.info("%d: %s", first, dict(follow_seeds(duck, range(first, first + SEEDS_AT_ONCE))))


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(12, 2_612, SEEDS_AT_ONCE))
def test_differential_25_000_queries_of_more_forms_with_changes_between(duck, first):
    met = follow_seeds(duck, range(first, first + SEEDS_AT_ONCE), FormWriter)
    logger.info("%d: %s", first, dict(met))
