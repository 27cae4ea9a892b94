"""Every golden file holds, and every rule and error is shown by one."""

from __future__ import annotations

import pytest
from golden import runner

from aspen.algebra.explain import plan_text
from aspen.algebra.read import read_plan
from aspen.algebra.rewrite import FLATTENING, RULES
from aspen.algebra.rewrite.driver import rewrite_steps
from aspen.streamsql import errors

CASES = runner.cases()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_border_gives_what_the_file_says(case):
    runner.check(case)


def test_a_plan_that_nobody_else_holds_is_rewritten_alike():
    """What is known of a node must not pass to another one that is made where it was."""
    for case in (case for case in CASES if case.path.parent.name == "04_rewrite"):
        held = read_plan(case.text)
        wanted = [plan_text(step.plan) for step in rewrite_steps(held)]
        for size in range(30):
            apart = [object() for _ in range(size)]
            steps = rewrite_steps(read_plan(case.text))
            assert [plan_text(step.plan) for step in steps] == wanted, (case.name, len(apart))


def test_every_rule_has_a_case_that_expects_it():
    expected = {rule for case in CASES for rule in case.directives.get("expect", [])}
    assert {rule.name for rule in FLATTENING + RULES} <= expected


def test_every_error_code_has_a_failing_case():
    shown = {case.expected.split(":", maxsplit=1)[0] for case in CASES if case.fails}
    codes = {
        kind.code
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, errors.AspenError) and "." in kind.code
    }
    doubts = {errors.UnboundedRecursion.code}  # with few rows it runs all the same
    assert codes - {"aspen.error", "aspen.bind"} - doubts <= shown


def test_every_border_has_cases():
    stages = {case.path.parent.name for case in CASES}
    assert stages == set(runner.STAGES)
