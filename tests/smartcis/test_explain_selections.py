"""EXPLAIN says where selections over a stream are made, and why."""

from __future__ import annotations

import pytest

from aspen.streamsql.statement import read_statement
from smartcis.access.owner import SYSTEM, Owner
from smartcis.actions.deploy_standing_queries import deploy_standing_queries
from smartcis.actions.explain_query import explain_query

pytestmark = pytest.mark.django_db


def test_selections_over_the_house_s_streams_stay_in_the_lane() -> None:
    deploy_standing_queries()
    sql = "SELECT sid FROM temperature_reading [RANGE 9 SECONDS] WHERE celsius > 60"
    text = explain_query(read_statement(sql), Owner("somebody")).text
    assert "selections over temperature_reading in the lane, because temperature_reading br" in text
    assert (
        "selections over"
        not in explain_query(read_statement("SELECT rid FROM open_room"), SYSTEM).text
    )
