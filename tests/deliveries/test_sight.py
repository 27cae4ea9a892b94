"""What a rule cannot compute of a row says nothing: other rows are seen as before."""

from __future__ import annotations

import pytest

from aspen.algebra.expr import Col, Const, Op
from aspen.model.schema import INT_MOST
from aspen.streamsql.alarm_rule import AlarmRule
from smartcis.deliveries.lifecycle import Seen
from smartcis.deliveries.sight import Eye

RULE = AlarmRule(raise_when=Op(">", Op("*", Col("n"), Const(2)), Const(100)), keys=("k",))


@pytest.mark.parametrize(
    ("numbers", "seen"),
    [([60], Seen.HOT), ([7], Seen.COOL), ([INT_MOST], Seen.GONE), ([INT_MOST, 60], Seen.HOT)],
)
def test_a_number_out_of_range(numbers, seen):
    eye = Eye(RULE, (("k", "TEXT", "", False), ("n", "INT", "", False)))
    assert eye.see([("a", n) for n in numbers]) is seen
