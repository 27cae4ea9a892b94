"""Grouping keys, against Spark's own hash."""

from __future__ import annotations

import pytest

from aspen.spark.lane_keys import lane_keys, spark_hash

pytestmark = pytest.mark.spark


def test_keys_fall_where_spark_sends_them(session):
    keys = [0, 1, 2, 77, 2**31 - 1, -1, -(2**31)]
    rows = (
        session.createDataFrame([(key,) for key in keys], "k INT").selectExpr("hash(k)").collect()
    )
    assert [row[0] for row in rows] == [spark_hash(key) for key in keys]
    for lanes in range(1, 9):
        assert {spark_hash(key) % lanes for key in lane_keys(lanes)} == set(range(lanes))
