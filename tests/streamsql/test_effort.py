"""Effort: a text that means too much is refused, always alike; one in ordinary use compiles."""

from __future__ import annotations

import time

import pytest

from aspen.algebra.inline import inline
from aspen.algebra.plan_parts import MOST_HEIGHT, MOST_NODES
from aspen.effort import MOST_STEPS, TooComplex, effort
from aspen.errors import AspenError
from aspen.streamsql import compile_query
from smartcis.catalog import CATALOG

LENGTH = 20_000
"""Letters of a text that a stranger may submit."""
MOST_S = 10.0
"""Of processor time, on any machine; each takes a fraction of it."""


def joins(n, kind=""):
    rest = (f"{kind} JOIN machine a{i} ON a{i}.mid = a{i - 1}.mid" for i in range(1, n))
    return "SELECT a0.mid FROM machine a0 " + " ".join(rest)


def natural(n):
    return "SELECT 1 AS x FROM machine a0 " + " ".join(
        f"NATURAL JOIN machine a{i}" for i in range(1, n)
    )


def commas(n):
    return "SELECT * FROM " + ", ".join(f"machine a{i}" for i in range(n))


def unions(n):
    return " UNION ALL ".join("SELECT mid FROM machine" for _ in range(n))


def doubling(n):
    step = "SELECT a.mid FROM c{0} a JOIN c{0} b ON a.mid = b.mid"
    steps = "".join(f", c{i + 1} AS ({step.format(i)})" for i in range(n))
    return f"WITH c0 AS (SELECT mid FROM machine){steps} SELECT mid FROM c{n}"


def doubling_text(n):
    steps = "".join(f", c{i + 1} AS (SELECT x || x AS x FROM c{i})" for i in range(n))
    return f"WITH c0 AS (SELECT mid AS x FROM machine){steps} SELECT x FROM c{n}"


def chain(n):
    steps = "".join(f", c{i + 1} AS (SELECT mid FROM c{i} WHERE mid <> '{i}')" for i in range(n))
    return f"WITH c0 AS (SELECT mid FROM machine){steps} SELECT mid FROM c{n}"


def questions(n):
    of_row = "(SELECT MAX(b.mid) FROM machine b WHERE b.mid < a.mid)"
    return "SELECT " + ", ".join(f"{of_row} AS c{i}" for i in range(n)) + " FROM machine a"


def exists(n, word):
    one = "EXISTS (SELECT 1 FROM machine b WHERE b.mid = a.mid)"
    return "SELECT a.mid FROM machine a WHERE " + f" {word} ".join([one] * n)


def inner(n):
    return "SELECT mid FROM machine WHERE mid IN (" * n + "'a'" + ")" * n


def ring(n):
    parts = (
        f"c{i}(x) AS (SELECT mid FROM machine UNION SELECT x FROM c{(i + 1) % n})" for i in range(n)
    )
    return "WITH RECURSIVE " + ", ".join(parts) + " SELECT x FROM c0"


def listed(n):
    return "SELECT mid FROM machine WHERE mid IN (" + ", ".join(f"'{i}'" for i in range(n)) + ")"


def wide(n):
    return "SELECT " + ", ".join(f"mid AS c{i}" for i in range(n)) + " FROM machine"


def cases(n):
    whens = " ".join(f"WHEN mid = '{i}' THEN {i}" for i in range(n))
    return f"SELECT CASE {whens} END AS x FROM machine"


def brackets(n):
    return "SELECT " + "(" * n + "1" + ")" * n + " AS x"


HOSTILE = {
    "joins": joins,
    "left joins": lambda n: joins(n, "LEFT"),
    "right joins": lambda n: joins(n, "RIGHT"),
    "full joins": lambda n: joins(n, "FULL"),
    "natural joins": natural,
    "products": commas,
    "unions": unions,
    "queries that double": doubling,
    "values that double": doubling_text,
    "a chain of queries": chain,
    "values of queries": questions,
    "all exist": lambda n: exists(n, "AND"),
    "some exist": lambda n: exists(n, "OR"),
    "queries in queries": inner,
    "a ring": ring,
    "a list": listed,
    "columns": wide,
    "cases": cases,
    "brackets": brackets,
}


def _longest(text):
    """Returns how many parts a text of the allowed length has at most."""
    n = 1
    while len(text(2 * n)) <= LENGTH:
        n *= 2
    return n


@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_text_that_may_be_submitted_compiles_or_is_refused_soon(kind, share):
    text = HOSTILE[kind](max(2, int(_longest(HOSTILE[kind]) * share)))
    began = time.process_time()
    refused: AspenError | None = None
    try:
        compile_query(text, CATALOG)
    except AspenError as error:
        refused = error
    assert time.process_time() - began < MOST_S
    if refused is not None:
        assert refused.code in ("aspen.compile.too_complex", "aspen.parse.unsupported")
        assert refused.attempt


@pytest.mark.parametrize(
    "text",
    [
        joins(64),
        joins(64, "LEFT"),
        natural(64),
        commas(64),
        unions(64),
        chain(40),
        exists(64, "AND"),
        exists(64, "OR"),
        questions(32),
        ring(64),
    ],
)
def test_64_tables_compile_with_room_to_spare(text):
    with effort(MOST_STEPS // 2):
        compile_query(text, CATALOG)


def test_a_text_is_refused_for_its_steps_whatever_the_clock_says():
    for most in (1_000, 20_000):
        with pytest.raises(TooComplex) as caught, effort(most):
            compile_query(joins(64), CATALOG)
        assert f"{most:,} steps" in caught.value.message
        assert caught.value.found
        with pytest.raises(TooComplex) as again, effort(most):
            compile_query(joins(64), CATALOG)
        assert again.value.as_dict() == caught.value.as_dict()


def test_an_effort_inside_another_counts_on():
    with pytest.raises(TooComplex), effort(1_000), effort(MOST_STEPS):
        compile_query(joins(64), CATALOG)


def test_pauses_come_while_a_text_is_compiled():
    paused = []
    with effort(MOST_STEPS, lambda: paused.append(1)):
        compile_query(joins(64), CATALOG)
    assert len(paused) > 5


def test_joins_without_conditions_are_not_read_twice_for_each():
    text = "SELECT m.mid FROM machine m" + " JOIN machine m" * 60
    with pytest.raises(TooComplex) as caught:
        compile_query(text, CATALOG)
    assert caught.value.found == "JOIN without ON"
    nested = "SELECT a.mid FROM machine a JOIN machine b JOIN machine c ON b.mid = c.mid"
    assert compile_query(nested + " ON a.mid = b.mid", CATALOG)


def test_views_over_views_that_are_large_together_are_refused():
    one = compile_query("SELECT a.mid FROM v a JOIN v b ON a.mid = b.mid", _with_view()).plan
    plan = compile_query("SELECT mid FROM machine", CATALOG).plan
    with pytest.raises(TooComplex) as caught:
        for _ in range(64):
            plan = inline(one, {"v": plan})
    assert f"{MOST_NODES:,}" in caught.value.message
    assert plan.size <= MOST_NODES
    assert plan.height <= MOST_HEIGHT


def _with_view():
    found = compile_query("CREATE VIEW v AS SELECT mid FROM machine", CATALOG)
    return CATALOG.with_relation(found.relation)
