"""Grouping keys, against Spark's own hash."""

from __future__ import annotations

import pytest

from aspen.spark.lane_keys import lane_keys

pytestmark = pytest.mark.spark


def test_keys_fall_where_spark_sends_them(session):
    for lanes in range(1, 9):
        keys = [(key,) for key in lane_keys(session, lanes)]
        rows = session.createDataFrame(keys, "k INT").selectExpr(f"pmod(hash(k), {lanes})")
        assert [row[0] for row in rows.collect()] == list(range(lanes))


def test_lanes_keep_the_keys_under_which_stored_checkpoints_have_their_states(session):
    assert lane_keys(session, 3) == (0, 1, 11)
