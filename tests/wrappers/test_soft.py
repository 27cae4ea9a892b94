"""Soft sensors of this computer and of AspEN itself."""

from __future__ import annotations

import pytest
from wrappers.conftest import START_S, changes_of, health, settings_of

from aspen.results.protocol import ViewChange
from smartcis import composition
from smartcis.models import MaintainedView, Source
from smartcis.models.wrapped import view_reads
from smartcis.wrappers.engine import EngineSource
from smartcis.wrappers.errors import SourceDown
from smartcis.wrappers.host import Host

COLUMNS = (("a", "INT", ""),)


class Taken(dict):
    """An append that keeps the rows by relation."""

    def __call__(self, batch) -> int:
        self.setdefault(batch.relation, []).extend(batch.rows)
        return len(batch.rows)


def test_web_requests_are_the_lines_an_access_log_grows_by(tmp_path):
    path, now_s, taken = tmp_path / "access.log", [1000.0], Taken()
    path.write_text("old\n" * 5)
    memory: dict = {}
    settings = settings_of("host", {"host": "h", "access_log": str(path)}, memory=memory)

    def hz() -> float | None:
        Host(settings, lambda: now_s[0]).poll(taken)
        now_s[0] += 10.0
        return taken["host_load"][-1][5]

    assert hz() is None  # what came before nobody timed
    with path.open("a") as log:
        log.write("new\n" * 20 + "half a li")
    assert hz() == 2.0
    with path.open("a") as log:
        log.write("ne\n")
    assert hz() == 0.1
    path.write_text("rotated\n" * 3)
    assert hz() == pytest.approx(0.3)
    path.unlink()
    assert hz() is None


def test_this_computer_is_measured():
    taken = Taken()
    host = Host(settings_of("host", {}))
    host.poll(taken)
    ((name, cpu_pct, memory_pct, users, jobs, requests_hz, at_s),) = taken["host_load"]
    assert name
    assert 0 <= cpu_pct <= 100
    assert 0 < memory_pct < 100
    assert users >= 0
    assert jobs >= 0
    assert requests_hz is None
    pids = {row[2] for row in taken["host_process"]}
    assert len(pids) == 3
    # A thread of the kernel, which may be the busiest of an idle machine, holds no memory.
    assert all(row[5] >= 0 for row in taken["host_process"])
    assert health(host.pulse, at_s)[0] == "live"


@pytest.mark.django_db
def test_the_engine_counts_every_epoch_once(building):
    made = {"plan_text": "", "plan_hash": "", "strategy": "", "columns": []}
    for name, reads in (("v", []), ("w", ["v"]), ("walk", ["route_request"])):
        MaintainedView.objects.create(name=name, sources=reads, **made)
    MaintainedView.objects.create(name="watch", sources=["sys_queries"], **made)
    MaintainedView.objects.create(name="watcher", sources=["watch"], **made)
    results, now_s, taken, memory = composition.results(), [START_S], Taken(), {}
    settings = settings_of("engine", {}, source="aspen", memory=memory, reads=view_reads)

    def poll() -> tuple:
        EngineSource(settings, lambda: now_s[0]).poll(taken)
        now_s[0] += 10.0
        return taken["engine_load"][-1]

    def write(batch: int, position: int, *changes: ViewChange, ms: float = 0.0) -> None:
        timing = {"appended_at": 1000.0, "sink_at": 1000.0 + ms}
        results.write("g", batch, position, START_S, changes, timing)

    write(1, 3, ViewChange("v", {(1,): 1}, COLUMNS))
    assert poll()[:7] == ("aspen", 1, 1, 0.0, None, 0, 0)
    write(2, 7, ViewChange("v", {(2,): 1, (1,): -1}), ms=50.0)
    write(3, 9, ViewChange("v", {(3,): 2}), ViewChange("w", {(3,): 1}, COLUMNS), ms=70.0)
    # When somebody walks is nobody's business.
    write(4, 9, ViewChange("walk", {(3,): 5}, COLUMNS), ms=60.0)
    assert poll()[:7] == ("aspen", 3, 4, 0.3, 60.0, 6, 5)
    assert [row[:4] for row in taken["view_load"]] == [("v", 3, 1, 2), ("w", 1, 0, 1)]
    with pytest.raises(SourceDown, match="no epoch since 4"):
        poll()
    write(5, 10, ViewChange("v", {(3,): -2}))
    assert poll()[2:7] == (5, 0.1, 0.0, 1, 2)
    write(6, 11, ViewChange("watch", {(1,): 1}, COLUMNS), ViewChange("watcher", {(1,): 1}, COLUMNS))
    write(7, 12, ViewChange("why:a", {(1,): 1}, COLUMNS), ViewChange("watcher", {(1,): -1}))
    assert poll()[2] == 7
    # Who watches the engine is not told that its own answers moved: it would go on for ever.
    assert [row[:6] for row in taken["sys_epochs"]] == [
        (2, 7, 1, 1, 1, 50.0),
        (3, 9, 2, 3, 0, 70.0),
        (5, 10, 1, 0, 2, 0.0),
    ]


@pytest.mark.django_db
def test_the_engine_is_a_source_like_any_other(home):
    source = Source.objects.create(source="aspen", kind="engine", period_s=10.0)
    home.rows("source_status")
    assert home.poll(source)
    assert home.state(source)[0] in {"live", "late"}
    home.later(10.0)
    assert home.poll(source)
    assert changes_of("engine_load")[-1][1][1] == len(composition.results().views())
    epochs = changes_of("sys_epochs")
    assert epochs
    assert all(row[2] > 0 for _, row in epochs), "only epochs in which views changed"
