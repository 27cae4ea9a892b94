"""Later code opens what earlier code left: database, log with its base, plans of standing views.

Each `upgrade/NAME.tar.gz` is a backup of a small house with a running log, made by the code of its
day; `NAME.json` has the rows its views had. To keep today's, before a format changes:

    SMARTCIS_KEEP=NAME pytest -n 0 tests/services/test_upgrade.py
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection
from services.test_backup import live, lock  # noqa: F401  # a fixture

from aspen.log import Base
from aspen.log.entry import Tick
from aspen.runtime.lane import Lane
from smartcis import composition
from smartcis.actions.deploy_standing_queries import deploy_standing_queries
from smartcis.ingest.relay import relay
from smartcis.models import Door, Sensor
from smartcis.services.backup import backup, restore

KEPT = Path(__file__).with_name("upgrade")
VIEWS = ("closed_room", "door_state", "free_machine", "machine_state", "passable", "room_state")

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]


def caught_up() -> Lane:
    """A lane that stands at the log's head, from its base."""
    log = composition.log()
    base = log.base()
    lane = Lane.restore(base.state) if base.position else Lane()
    lane.apply(log.read(lane.position, log.head()))
    return lane


def rows(lane: Lane) -> dict:
    """The views' rows as JSON has them."""
    return {
        view: sorted([*row, weight] for row, weight in lane.rows(view).items()) for view in VIEWS
    }


@pytest.mark.skipif("SMARTCIS_KEEP" not in os.environ, reason="keeps what today's code leaves")
def test_keep(live):  # noqa: F811
    lock("locked")
    relay(composition.log())
    lane = caught_up()
    composition.log().compact(Base(lane.position, lane.snapshot()))
    Sensor.objects.filter(pk="m1.cpu").delete()
    lock("open")
    lock("locked")
    composition.log().append([Tick(time.time())])
    relay(composition.log())
    name = os.environ["SMARTCIS_KEEP"]
    backup(KEPT / f"{name}.tar.gz")
    (KEPT / f"{name}.json").write_text(json.dumps(rows(caught_up()), indent=1, sort_keys=True))


@pytest.mark.parametrize("kept", sorted(KEPT.glob("*.tar.gz")), ids=lambda path: path.name)
def test_what_earlier_code_left_goes_on(live, kept):  # noqa: F811
    if connection.vendor != "sqlite":
        pytest.skip("it was kept with SQLite")
    restore(kept, replace=True)
    call_command("migrate", verbosity=0)
    expected = json.loads(kept.with_name(kept.name.replace(".tar.gz", ".json")).read_text())
    assert composition.log().base().position
    assert expected["door_state"]
    assert json.loads(json.dumps(rows(caught_up()))) == expected
    deploy_standing_queries()
    assert Door.objects.get().state == "locked"
    lock("open")
    relay(composition.log())
    found = rows(caught_up())
    assert found["door_state"] != expected["door_state"]
    assert found["free_machine"] == expected["free_machine"]
