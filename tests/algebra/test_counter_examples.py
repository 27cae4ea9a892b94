"""Without its guard a rule would be wrong: for each, a plan, what it must not become, and rows."""

from __future__ import annotations

import pytest
from algebra.plans import Data

from aspen.algebra.read import read_plan
from aspen.algebra.rewrite import FLATTENING, RULES, rewrite_steps

T = "Scan t as t (t.a INT, t.b INT?)"
U = "Scan u as u (u.a INT, u.b INT)"
V = "Scan u as v (v.a INT, v.b INT)"
S = "Scan t as s (s.a INT, s.b INT?)"
EDGE = "Scan edge as {0} ({0}.src INT, {0}.dst INT, {0}.len INT)"
WALK = """
  Project x INT = b.src, z INT = b.dst, c INT = b.len
    {base}
  Project x INT = r.x, z INT = e.dst, c INT = r.c + e.len
    Join on r.z = e.src
      RecursiveRef walk as r (r.x INT, r.z INT, r.c INT)
      Scan edge as e (e.src INT, e.dst INT, e.len INT)
"""

CHAINS = """
Fixpoint walk (x INT, z INT)
  Project x INT = b.src, z INT = b.dst
    Scan edge as b (b.src INT, b.dst INT, b.len INT)
  Project x INT = r.x, z INT = s.z
    Join on r.z = s.x where r.x < 5 OR s.z = 4
      RecursiveRef walk as r (r.x INT, r.z INT)
"""

HALF = """
  Project {0}x INT = b.src, {0}z INT = b.dst, {0}c INT = b.len
    Scan edge as b (b.src INT, b.dst INT, b.len INT)
  Project {0}x INT = r.x, {0}z INT = e.dst, {0}c INT = r.c + e.len
    Join on r.z = e.src where r.c < 9
      RecursiveRef {1} as r (r.x INT, r.z INT, r.c INT)
      Scan edge as e (e.src INT, e.dst INT, e.len INT)
"""
# Ways, and the cheapest ways by an edge more.
WAYS = (
    "Fixpoint way (x INT, z INT, c INT) with best (x INT, z INT, c INT) keep MIN c by x, z"
    + HALF.rstrip().format("", "best")
    + HALF.rstrip().format("", "way")
)
SINGLE = """
Project x INT = x, z INT = z, c INT = c
  Filter relation = 1
    Fixpoint best_way (x INT, z INT, c INT, relation INT) keep MIN c by x, z, relation
      Union
        Project x INT = b.src, z INT = b.dst, c INT = b.len, relation INT = 0
          Scan edge as b (b.src INT, b.dst INT, b.len INT)
        Project x INT = b.src, z INT = b.dst, c INT = b.len, relation INT = 1
          Scan edge as b (b.src INT, b.dst INT, b.len INT)
      Project x INT = r.x, z INT = e.dst, c INT = r.c + e.len, relation INT = 1 - r.relation
        Join on r.z = e.src where r.c < 9
          RecursiveRef best_way as r (r.x INT, r.z INT, r.c INT, r.relation INT)
          Scan edge as e (e.src INT, e.dst INT, e.len INT)
"""


def indented(text, steps):
    return "\n".join("  " * steps + line for line in text.strip("\n").splitlines())


def walk(base="Scan edge as b (b.src INT, b.dst INT, b.len INT)"):
    head = "Fixpoint walk (x INT, z INT, c INT) keep MIN c by x, z\n"
    return head + WALK.strip("\n").format(base=base.replace("\n", "\n    "))


def over(head, *inputs):
    return "\n".join([head, *(indented(one, 1) for one in inputs)])


CASES = {
    "fold_filter": (over("Filter NOT (t.a = 1 AND NULL)", T), over("Filter NOT NULL", T)),
    "fold_project": (over("Project p INT? = 0 * t.b", T), over("Project p INT? = 0", T)),
    "fold_join": (over("Join where t.b = t.b", T, U), over("Join", T, U)),
    "drop_true_filter": (over("Filter NULL", T), T),
    "distinct_of_set": (
        over("Distinct", over("Project p INT? = t.b", over("Distinct", T))),
        over("Project p INT? = t.b", over("Distinct", T)),
    ),
    "filter_below_group": (
        over("Filter m > 2", over("GroupBy by u.a give m INT = MIN(u.b)", U)),
        over("GroupBy by u.a give m INT = MIN(u.b)", over("Filter u.b > 2", U)),
    ),
    "filter_below_union": (
        over("Filter u.a = 1", over("Union", U, over("Project u.b INT = u.b, u.a INT = u.a", U))),
        over(
            "Union",
            over("Filter u.a = 1", U),
            over("Filter u.a = 1", over("Project u.b INT = u.b, u.a INT = u.a", U)),
        ),
    ),
    "filter_into_join": (
        over("Filter u.b = 2", over("OuterJoin on t.a = u.a", T, U)),
        over("OuterJoin on t.a = u.a", T, over("Filter u.b = 2", U)),
    ),
    "residual_into_join_keys": (
        over("Join where t.a + 1 = u.a", T, U),
        over("Join on t.a = u.a", T, U),
    ),
    "filter_below_anti_join": (
        over("Filter t.a = 1", over("AntiJoin on t.a = u.a", T, U)),
        over("AntiJoin on t.a = u.a", T, over("Filter u.a = 1", U)),
    ),
    "anti_join_below_join": (
        over(
            "AntiJoin where t.a + u.a = v.a", over("Join", T, U), "Scan u as v (v.a INT, v.b INT)"
        ),
        over("Join", over("AntiJoin where t.a = v.a", T, "Scan u as v (v.a INT, v.b INT)"), U),
    ),
    "outer_join_to_join": (
        over("Filter u.b IS NULL", over("OuterJoin on t.a = u.a", T, U)),
        over("Filter u.b IS NULL", over("Join on t.a = u.a", T, U)),
    ),
    "filter_below_outer_join": (
        over("Filter u.b <> 2", over("OuterJoin on t.a = u.a", T, U)),
        over("OuterJoin on t.a = u.a", T, over("Filter u.b <> 2", U)),
    ),
    "filter_below_set_operation": (
        over("Filter u.a = 1", over("Except", U, over("Project u.b INT = u.b, u.a INT = u.a", U))),
        over(
            "Except",
            over("Filter u.a = 1", U),
            over("Filter u.a = 1", over("Project u.b INT = u.b, u.a INT = u.a", U)),
        ),
    ),
    "filter_below_range": (
        over(
            "Filter s.v < 3", over("Window by s.k rows 1", "Scan s as s (s.k TEXT, s.v INT) stream")
        ),
        over(
            "Window by s.k rows 1", over("Filter s.v < 3", "Scan s as s (s.k TEXT, s.v INT) stream")
        ),
    ),
    "filter_into_fixpoint": (
        over("Filter z = 3", walk()),
        walk(over("Filter b.dst = 3", EDGE.format("b"))),
    ),
    "nonlinear_to_linear": (
        CHAINS + "      RecursiveRef walk as s (s.x INT, s.z INT)",
        CHAINS + indented(over("Project s.x INT = f.src, s.z INT = f.dst", EDGE.format("f")), 3),
    ),
    "mutual_to_single": (WAYS, SINGLE),
    "linear_other_way": (
        over("Filter z = 4", walk(over("Filter b.len = 1", EDGE.format("b")))),
        over(
            "Filter z = 4",
            """
Fixpoint walk (x INT, z INT, c INT) keep MIN c by x, z
  Project x INT = b.src, z INT = b.dst, c INT = b.len
    Filter b.len = 1
      Scan edge as b (b.src INT, b.dst INT, b.len INT)
  Project x INT = e.src, z INT = r.z, c INT = r.c + e.len
    Join on r.x = e.dst
      RecursiveRef walk as r (r.x INT, r.z INT, r.c INT)
      Scan edge as e (e.src INT, e.dst INT, e.len INT)
""",
        ),
    ),
    "demand_by_constant": (
        over("Filter c = 3", walk()),
        over("Filter c = 3", walk(over("Filter b.len = 3", EDGE.format("b")))),
    ),
    "demand_by_join": (
        over("OuterJoin on x = u.a", walk(), U),
        over(
            "OuterJoin on x = u.a",
            walk(over("Join on b.src = v.a", EDGE.format("b"), "Scan u as v (v.a INT, v.b INT)")),
            U,
        ),
    ),
    "apply_rows_alone": (over("Apply rows", T, over("Filter ^t.a = u.a", U)), over("Join", T, U)),
    "apply_below_row_by_row": (
        over("Apply rows", T, over("Project c INT = ^t.a + u.a", U)),
        over("Project c INT = t.a + u.a", over("Join", T, U)),
    ),
    "apply_below_union": (
        over("Apply rows", T, over("Union", over("Filter ^t.a = u.a", U), U)),
        over("Apply rows", T, over("Filter ^t.a = u.a", U)),
    ),
    "apply_below_set": (
        over(
            "Apply rows",
            over("Project k INT? = t.b", T),
            over("Distinct", over("Filter ^k > u.b", U)),
        ),
        over(
            "Distinct",
            over("Apply rows", over("Project k INT? = t.b", T), over("Filter ^k > u.b", U)),
        ),
    ),
    "apply_below_join": (
        over(
            "Apply rows",
            T,
            over("Join on u.a = v.a", over("Filter ^t.b IS NULL", U), over("Filter ^t.a > 0", V)),
        ),
        over(
            "Join on t.b = s.b, u.a = v.a",
            over("Apply rows", T, over("Filter ^t.b IS NULL", U)),
            over("Apply rows", S, over("Filter ^s.a > 0", V)),
        ),
    ),
    "apply_below_group": (
        over("Apply rows", T, over("GroupBy give n INT = COUNT(*)", over("Filter ^t.a = u.a", U))),
        over("GroupBy by t.a, t.b give n INT = COUNT(*)", over("Join on t.a = u.a", T, U)),
    ),
    "apply_by_domain": (
        over("Apply exists", T, over("TopK limit 1", over("Filter ^t.b IS NULL", U))),
        over(
            "Project t.a INT = t.a, t.b INT? = t.b",
            over(
                "Join on t.b = s.b",
                T,
                over(
                    "Apply exists",
                    over("Distinct", over("Project s.b INT? = s.b", S)),
                    over("Filter ^s.b IS NULL", U),
                ),
            ),
        ),
    ),
    "apply_value_by_group": (
        over(
            "Apply value x INT?",
            T,
            over(
                "Project n INT = c",
                over("GroupBy give c INT = COUNT(*)", over("Filter ^t.a < u.a", U)),
            ),
        ),
        over(
            "Project t.a INT = t.a, t.b INT? = t.b, x INT? = coalesce(c, 0)",
            over("OuterJoin on t.a = u.a", T, over("GroupBy by u.a give c INT = COUNT(*)", U)),
        ),
    ),
    "apply_by_conditions": (
        over("Apply exists", T, over("TopK limit 0", over("Filter ^t.a = u.a", U))),
        over(
            "Project t.a INT = t.a, t.b INT? = t.b",
            over("Join on t.a = u.a", T, over("Distinct", over("Project u.a INT = u.a", U))),
        ),
    ),
    "apply_value_alone": (
        over("Apply value x INT?", T, over("Project n INT = u.a", U)),
        over("Join", T, over("Project n INT = u.a", U)),
    ),
    "matching_keys": (
        over("OuterJoin where t.b = 5", T, U),
        over("OuterJoin", over("Filter t.b = 5", T), U),
    ),
    "join_order": (
        over("OuterJoin on t.a = u.a", T, U),
        over(
            "Project t.a INT? = t.a, t.b INT? = t.b, u.a INT = u.a, u.b INT = u.b",
            over("OuterJoin on u.a = t.a", U, T),
        ),
    ),
    "drop_identity": (over("Project u.b INT = u.b, u.a INT = u.a", U), U),
    "prune_columns": (
        over("Project x INT = x", walk()),
        over(
            "Project x INT = x",
            """
Fixpoint walk (x INT)
  Project x INT = b.src
    Scan edge as b (b.src INT, b.dst INT, b.len INT)
  Project x INT = r.x
    RecursiveRef walk as r (r.x INT)
""",
        ),
    ),
    "prune_partners": (
        over("AntiJoin on t.a = u.a where t.b < u.b", T, U),
        over("AntiJoin on t.a = u.a", T, over("Project u.a INT = u.a", U)),
    ),
    "semi_join_groups": (
        over(
            "Join on t.a = n",
            over("Filter t.b = 5", T),
            over(
                "GroupBy by u.a give n INT = COUNT(*)",
                over("Join on u.b = v.a", U, V),
            ),
        ),
        over(
            "Join on t.a = n",
            over("Filter t.b = 5", T),
            over(
                "GroupBy by u.a give n INT = COUNT(*)",
                over(
                    "Join on u.a = semi.c0",
                    over("Join on u.b = v.a", U, V),
                    "Scan few as semi (semi.c0 INT)",
                ),
            ),
        ),
    ),
}

STEPS = """
Fixpoint walk (x INT, z INT, c INT)
  Project x INT = b.src, z INT = b.dst, c INT = b.len
    Scan edge as b (b.src INT, b.dst INT, b.len INT)
  Project x INT = r.x, z INT = e.dst, c INT = r.c + e.len
    Join on r.z = e.src where r.c > 2
      RecursiveRef walk as r (r.x INT, r.z INT, r.c INT)
      Scan edge as e (e.src INT, e.dst INT, e.len INT)
"""
BESIDE = {
    "rows are counted that differ in nothing that is read": over(
        "GroupBy by x, z give n INT = COUNT(*)", walk().replace(" keep MIN c by x, z", "")
    ),
    "a chain is long enough only from its beginning": over("Filter z = 4", STEPS),
}

ROWS = Data(
    {
        "t": {(1, None): 1, (2, 5): 1, (3, 5): 1, (7, 0): 1},
        "u": {(1, 2): 1, (1, 3): 1, (2, 1): 1, (3, 2): 1, (4, 4): 1},
        "edge": {(1, 2, 1): 1, (2, 3, 1): 1, (1, 3, 3): 1, (3, 4, 5): 1, (5, 1, 1): 1},
        "few": {(2,): 1, (3,): 1},
    },
    ((("a", 1), 10.0), (("a", 4), 20.0)),
)


def test_every_rule_that_could_be_wrong_has_one():
    every = FLATTENING + RULES
    harmless = {rule.name for rule in every if rule.counter_example.startswith("none")}
    assert {rule.name for rule in every} - harmless == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_oracle_without_its_guard_a_rule_would_change_rows(name):
    plan, wrong = (read_plan(text) for text in CASES[name])
    answer = ROWS.evaluate(plan)
    assert ROWS.evaluate(wrong) != answer
    rules = FLATTENING if any(rule.name == name for rule in FLATTENING) else RULES
    for step in rewrite_steps(plan, rules):
        assert step.plan != wrong
        assert ROWS.evaluate(step.plan) == answer, step.rule.name


@pytest.mark.parametrize("name", BESIDE)
def test_oracle_where_a_rule_must_not_go_no_rule_goes(name):
    plan = read_plan(BESIDE[name])
    answer = ROWS.evaluate(plan)
    assert answer
    for step in rewrite_steps(plan, RULES):
        assert ROWS.evaluate(step.plan) == answer, step.rule.name
