"""SummedRecursion: sums over every way to a row, beside the oracle, which tells the ways apart."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from views.operators.laws import Bench, check, compiled, histories, quick, shuffles

from aspen.algebra.explain import plan_text
from aspen.algebra.plan import GroupBy, nodes
from aspen.log.entry import Register
from aspen.views.choose import choose
from aspen.views.node import Lookups
from aspen.views.operators.fixpoint import FixpointOperator
from aspen.views.operators.group_by import GroupByOperator
from aspen.views.operators.summed_recursion import SummedRecursion
from aspen.views.operators.support.strategies import AUTO, TRAVERSAL
from aspen.views.summed_shape import summed_shape
from tests.oracle import evaluate


def asked(
    select: str,
    value: str = "u.pieces * l.cost",
    *,
    begins: str = "l.src, l.dst, l.cost FROM link l",
    where: str = "l.src < l.dst",
) -> str:
    """Returns a query of what is made of what: `link` has no cycle where sources are smaller."""
    return f"""WITH RECURSIVE uses(whole, part, pieces) AS (
        SELECT {begins}
      UNION ALL
        SELECT u.whole, l.dst, {value} FROM uses u JOIN link l ON l.src = u.part WHERE {where}
    ) SELECT {select}"""


SUMS = "whole, part, SUM(pieces) AS p FROM uses GROUP BY whole, part"
QUERIES = {
    "sum": asked(SUMS),
    "ways": asked("part, whole, COUNT(*) AS n FROM uses GROUP BY part, whole"),
    "both": asked(
        "whole, part, SUM(pieces) AS p, COUNT(*) AS n, COUNT(pieces) AS k, part + 1 AS q"
        " FROM uses GROUP BY whole, part"
    ),
    "of each part": asked("part, SUM(pieces) AS p, COUNT(*) AS n FROM uses GROUP BY part"),
    "of each whole": asked("whole, SUM(pieces) AS p, COUNT(*) AS n FROM uses GROUP BY whole"),
    "carried": asked(SUMS, "u.pieces"),
    "added": asked(SUMS, "u.pieces + l.cost * 2"),
    "taken away": asked(SUMS, "l.cost - 2 * (u.pieces - l.dst)"),
    "given anew": asked(SUMS, "l.cost"),
    "begun alike": asked(SUMS, begins="1, s.node, 1 FROM seed s"),
    "nodes in the value": asked(SUMS, "u.pieces * u.part"),
    "unlit": asked(
        SUMS, where="l.src < l.dst AND NOT EXISTS (SELECT 1 FROM lit t WHERE t.node = l.dst)"
    ),
    "selected": asked(
        "whole, part, SUM(pieces) AS p FROM uses WHERE part > 1 GROUP BY whole, part"
        " HAVING SUM(pieces) > 2"
    ),
    "links of two kinds": asked(SUMS).replace(
        "JOIN link l",
        "JOIN (SELECT src, dst, cost FROM link UNION ALL SELECT k, v, v FROM pair) l",
    ),
    "in layers": asked(SUMS, where="l.src < l.dst AND u.whole < l.dst"),
    "counted steps": """WITH RECURSIVE go(node, n, cost) AS (
        SELECT s.node, 0, 1 FROM seed s
      UNION ALL
        SELECT l.dst, g.n + 1, g.cost * l.cost FROM go g JOIN link l ON l.src = g.node WHERE g.n < 3
    ) SELECT node, COUNT(*) AS ways, SUM(cost) AS cost FROM go GROUP BY node""",
    "nulls": """WITH RECURSIVE go(node, x, y) AS (
        SELECT i.k, i.x, i.k FROM item i
      UNION ALL
        SELECT p.v, g.x * i.x, i.x - g.y
        FROM go g JOIN pair p ON p.k = g.node JOIN item i ON i.k = p.v WHERE p.k < p.v
    ) SELECT node, SUM(x) AS x, COUNT(x) AS n, SUM(y) AS y, COUNT(*) AS w FROM go GROUP BY node""",
}

OTHERWISE = {
    "a set": asked(SUMS).replace("ALL", ""),
    "the value is asked": asked("pieces, SUM(pieces) AS p FROM uses GROUP BY pieces"),
    "squared": asked(SUMS, "u.pieces * u.pieces"),
    "compared": asked(SUMS, where="l.src < l.dst AND u.pieces < 9"),
    "through a function": asked(SUMS, "abs(u.pieces)"),
    "the least": asked("whole, MIN(pieces) AS p FROM uses GROUP BY whole"),
    "different ones": asked("whole, COUNT(DISTINCT pieces) AS p FROM uses GROUP BY whole"),
    "in all": asked("SUM(pieces) AS p FROM uses"),
    "where EXISTS": asked(
        SUMS, where="l.src < l.dst AND EXISTS (SELECT 1 FROM lit t WHERE t.node > l.dst)"
    ),
}


@settings(quick, max_examples=100)
@given(
    case=st.sampled_from(sorted(QUERIES)),
    states=histories("link", "seed", "lit", "pair", "item"),
    random=shuffles,
)
def test_laws(case, states, random) -> None:
    check(SummedRecursion, QUERIES[case], states, random, TRAVERSAL)


def grouped(sql: str) -> GroupBy:
    return next(node for node in nodes(compiled(sql)) if isinstance(node, GroupBy))


@pytest.mark.parametrize("case", sorted(OTHERWISE))
def test_ways_that_are_told_apart_are_kept(case) -> None:
    assert summed_shape(grouped(OTHERWISE[case])) is None


def test_what_only_leads_on_is_kept_and_what_is_only_carried_is_not() -> None:
    def kept(case: str) -> list[str]:
        shape = summed_shape(grouped(QUERIES[case]))
        assert shape is not None
        return [shape.recursion.columns[index].name for index in shape.kept]

    assert kept("of each part") == ["part"]
    assert kept("of each whole") == ["whole", "part"]
    assert kept("nodes in the value") == ["whole", "part"]


class Known:
    """Nothing is known of relations."""

    def rows(self, relation: str) -> None:
        del relation

    def changes(self, relation: str) -> float:
        del relation
        return 1.0


def test_the_choice_says_why() -> None:
    assert "their number and their sums" in choose(compiled(QUERIES["sum"]), Known()).reason
    bench = Bench(compiled(QUERIES["sum"]), AUTO)
    assert bench.nodes(SummedRecursion)
    assert not bench.nodes(FixpointOperator)


def test_a_strategy_that_was_asked_for_tells_the_ways_apart() -> None:
    bench = Bench(compiled(QUERIES["sum"]))
    assert bench.nodes(FixpointOperator)
    assert bench.nodes(GroupByOperator)


LEVELS = 40


def deep(bench: Bench) -> None:
    """Each part is made of both of the next level: 2 ** LEVELS ways."""
    pairs = itertools.product(range(LEVELS), (0, 1), (0, 1))
    bench.change(*(("link", (2 * at + one, 2 * at + 2 + other, 1), 1) for at, one, other in pairs))


def test_more_ways_than_could_be_told_apart() -> None:
    bench = Bench(compiled(QUERIES["sum"]), TRAVERSAL)
    deep(bench)
    assert bench.rows()[(0, 2 * LEVELS, 2 ** (LEVELS - 1))] == 1
    bench.change(("link", (0, 2, 1), -1))
    assert bench.rows()[(0, 2 * LEVELS, 2 ** (LEVELS - 2))] == 1
    assert len(bench.rows()) == sum(4 * (LEVELS - at) for at in range(LEVELS)) - 1


@pytest.mark.parametrize("ring", [[(1, 2), (2, 1)], [(1, 2), (2, 3), (1, 1)]])
def test_a_cycle_is_an_error_of_the_view_until_it_is_open(ring) -> None:
    plan = compiled(asked(SUMS, where="TRUE"))
    bench = Bench(plan, TRAVERSAL)
    bench.change(*(("link", (*pair, 2), 1) for pair in [(0, 1), *ring[:-1]]))
    closing = (*ring[-1], 1)
    with pytest.raises(AssertionError, match="goes round in a cycle"):
        bench.change(("link", closing, 1))
    bench.change(("link", closing, -1))
    bench.take(Register(2.0, "again", plan_text(plan), TRAVERSAL))
    assert bench.lane.rows("again")[(0, 2, 4)] == 1


def test_a_row_rests_on_all_that_was_added_up() -> None:
    plan = compiled(QUERIES["sum"])
    bench = Bench(plan, TRAVERSAL)
    bench.change(*(("link", row, 1) for row in [(1, 2, 3), (1, 3, 1), (2, 3, 2), (1, 3, 5)]))
    (node,) = bench.nodes(SummedRecursion)
    (way,) = node.ways((1, 3, 12), Lookups(every=True))
    taken = [(one is node, row[:3]) for one, row in way]
    assert sorted(taken) == [
        (False, (1, 3, 1)),
        (False, (1, 3, 5)),
        (False, (2, 3, 2)),
        (True, (1, 2, 3)),
    ]
    assert all(row in one.contents() for one, row in way)
    assert bench.rows() == evaluate(
        plan, {"link": {(1, 2, 3): 1, (1, 3, 1): 1, (2, 3, 2): 1, (1, 3, 5): 1}}
    )


def test_a_sum_beyond_int_is_an_error() -> None:
    bench = Bench(compiled(QUERIES["sum"]), TRAVERSAL)
    bench.change(("link", (1, 2, 2**62), 1))
    with pytest.raises(AssertionError, match="larger than INT"):
        bench.change(("link", (2, 3, 2), 1))
