"""EXPLAIN says where a view would live in an engine of several lanes."""

from __future__ import annotations

import pytest

from aspen.streamsql.statement import read_statement
from smartcis.access.owner import Owner
from smartcis.actions.deploy_standing_queries import deploy_standing_queries
from smartcis.actions.explain_query import explain_query

pytestmark = pytest.mark.django_db


@pytest.fixture
def standing():
    deploy_standing_queries()


@pytest.mark.parametrize(
    ("lanes", "sql", "said"),
    [
        (1, "SELECT rid FROM open_room", "in the lane, because there is one"),
        (
            2,
            "SELECT rid FROM open_room",
            "whole in one of 2 lanes, because nothing in it is recursive",
        ),
        (
            3,
            "SELECT region_id, COUNT(*) AS n FROM active_region GROUP BY region_id",
            "split over 3 lanes by region_seed.region_id, because its recursion keeps that column",
        ),
        (2, "SELECT sid FROM active_region WHERE region_id = 'x'", "by its parameters"),
        (2, "SELECT view, lane FROM sys.queries", "in each of 2 lanes for its own rows"),
        (2, "SELECT COUNT(*) AS n FROM sys.queries", "in none of 2 lanes, because this needs"),
        (1, "SELECT COUNT(*) AS n FROM sys.queries", "in the lane, because there is one"),
    ],
)
def test_the_place_is_explained(standing, settings, lanes, sql, said):
    settings.ENGINE_LANES = lanes
    assert said in explain_query(read_statement(sql), Owner("somebody")).text
