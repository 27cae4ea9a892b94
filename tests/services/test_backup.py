"""Backup, change, restore: the same database, log and views; and nothing is lost by a refusal."""

from __future__ import annotations

import json
import shutil
import tarfile
import time

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from aspen.log.entry import Tick
from aspen.runtime.lane import Lane
from smartcis import composition
from smartcis.actions.deploy_standing_queries import deploy_standing_queries
from smartcis.ingest.relay import relay
from smartcis.models import Door, Kiosk, OutboxEntry
from smartcis.services import backup as backups
from smartcis.services.backup import BackupRefused, backup, restore
from smartcis.services.processes import ProcessState, write_processes

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def live(building, house, settings, tmp_path, monkeypatch):
    """A house with standing queries, whose log and database agree, in its own folder."""
    settings.VAR = tmp_path / "var"
    settings.ENGINE_CHECKPOINT = settings.VAR / "checkpoint"
    settings.VAR.mkdir()
    (settings.VAR / "secret_key").write_text("the first secret")
    monkeypatch.setenv("REDIS_URL", settings.REDIS_URL)
    deploy_standing_queries()
    composition.log().append([Tick(time.time())])
    if connection.vendor == "postgresql" and not shutil.which("pg_dump"):
        pytest.skip("PostgreSQL's own tools are not in the path")
    return settings.VAR


def answers() -> dict:
    """What every view holds, computed from the whole log."""
    relay(composition.log())
    log, lane = composition.log(), Lane()
    changes = lane.apply(log.read(lane.position, log.head()))
    return {change.view: dict(change.delta) for change in changes if change.delta}


def lock(state):
    door = Door.objects.get()
    door.state = state
    door.save()


def test_what_was_is_again(live, tmp_path):
    file = tmp_path / "monday.tar.gz"
    lock("locked")
    before, position = answers(), composition.log().head()
    call_command("backup", str(file))
    assert file.stat().st_mode & 0o077 == 0
    lock("open")
    Kiosk.objects.all().delete()
    composition.log().append([Tick(time.time() + 60)])
    (live / "secret_key").write_text("another secret")
    (live / "checkpoint").mkdir()
    assert answers() != before
    call_command("restore", str(file), "--replace")
    assert Door.objects.get().state == "locked"
    assert composition.log().head() == position
    assert answers() == before
    assert (live / "secret_key").read_text() == "the first secret"
    assert not (live / "checkpoint").exists()
    lock("open")
    assert answers() != before


def test_an_edit_on_its_way_to_the_log_arrives_once(live, tmp_path, monkeypatch):
    """The log has it, the database does not know that yet: its key is in the backup, too."""
    relay(composition.log())
    with transaction.atomic():
        lock("locked")
        pending = OutboxEntry.objects.filter(position=None).values_list("pk", flat=True)
        pending = list(pending)
    relay(composition.log())
    head = composition.log().head()
    OutboxEntry.objects.filter(pk__in=pending).update(position=None)
    backup(tmp_path / "b.tar.gz")
    restore(tmp_path / "b.tar.gz", replace=True)
    assert OutboxEntry.objects.filter(position=None).exists()
    relay(composition.log())
    assert composition.log().head() == head


def test_a_running_product_is_left_alone(live, tmp_path, building):
    file = tmp_path / "b.tar.gz"
    backup(file)
    write_processes(composition.server(), building, "h", [ProcessState("web", "h", 7, 1)])
    with pytest.raises(CommandError, match="the product runs"):
        call_command("restore", str(file))
    assert composition.log().head()


def test_a_building_is_lost_only_when_that_is_said(live, tmp_path):
    file = tmp_path / "b.tar.gz"
    backup(file)
    with pytest.raises(BackupRefused, match="already"):
        backup(file)
    with pytest.raises(CommandError, match="--replace"):
        call_command("restore", str(file))
    call_command("restore", str(file), "--replace")


@pytest.mark.parametrize("harm", ["cut", "changed", "later", "vendor", "nothing"])
def test_what_is_no_whole_backup_changes_nothing(live, tmp_path, harm):
    file = tmp_path / "b.tar.gz"
    backup(file)
    members, manifest = backups._read(file)
    if harm == "cut":
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    elif harm == "nothing":
        file.unlink()
    else:
        if harm == "changed":
            members["log"] = b"x" + members["log"]
        if harm == "later":
            manifest["format"] += 1
        if harm == "vendor":
            manifest["database"] = "oracle"
        backups._write(file, {"manifest.json": json.dumps(manifest).encode(), **members})
        assert tarfile.is_tarfile(file)
    before = answers()
    with pytest.raises(BackupRefused):
        restore(file, replace=True)
    assert answers() == before
