"""Databases made by former migrations go on with those that replace them."""

from __future__ import annotations

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

pytestmark = [pytest.mark.django_db, pytest.mark.database]

FORMER = (
    "0001_outbox_queries_routes",
    "0002_building",
    "0003_sources",
    "0004_sensor_kinds",
    "0005_placements",
    "0006_answers_given",
    "0007_visitors_consent",
    "0008_cascade_at_once",
    "0009_sensor_kinds_by_table",
)


@pytest.mark.parametrize("applied", [7, 8, 9])
def test_a_database_of_former_migrations_has_nothing_to_do(applied):
    recorder = MigrationRecorder(connection)
    recorder.migration_qs.filter(app="smartcis").delete()
    for name in FORMER[:applied]:
        recorder.record_applied("smartcis", name)
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    assert not {one.name for one, _ in plan} & {"0001_house", "0002_queries"}
