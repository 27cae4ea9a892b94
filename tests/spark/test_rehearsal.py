"""An engine that stands by: it does what an engine does once, and nobody hears of it."""

from __future__ import annotations

import psutil
import pytest
import redis
from spark import product

from aspen.spark.engine import Engine
from aspen.spark.rehearsal import rehearse
from aspen.spark.session import scratch_folder

pytestmark = pytest.mark.spark


def test_a_rehearsal_leaves_nothing_behind(session, tmp_path):
    for _ in range(2):
        rehearse(session, 1, tmp_path, 120.0)
        assert session.streams.active == []
        assert list(tmp_path.iterdir()) == []


def test_an_engine_goes_on_in_a_session_that_has_rehearsed(session, config, feed, results):
    rehearse(session, config.lanes, config.checkpoint.parent, 120.0)
    with product.running(config, session):
        feed.more(20)
        product.check(feed, results)


def test_who_stands_by_touches_neither_lease_nor_status_nor_checkpoint(
    session, config, feed, results, monkeypatch
):
    monkeypatch.setattr(Engine, "_start_session", lambda _self: session)
    with redis.Redis.from_url(config.results_url) as client:
        waiting = Engine(config, lambda *_, **__: None)
        before = sorted(client.scan_iter(f"{config.results_name}:*"))
        waiting.prepare()
        assert waiting.is_prepared()
        assert sorted(client.scan_iter(f"{config.results_name}:*")) == before
        assert not config.checkpoint.exists()
    with product.running(config, session):
        product.check(feed, results)
    waiting.stop()
    assert not waiting.is_prepared()


def test_the_files_of_sessions_that_ended_are_removed_and_those_of_others_kept(tmp_path):
    (dead, alive, ours) = (2**30, psutil.Process().ppid(), psutil.Process().pid)
    for name in (dead, alive, "blockmgr-of-an-earlier-version"):
        (tmp_path / str(name)).mkdir()
    assert scratch_folder(tmp_path) == tmp_path / str(ours)
    assert [one.name for one in tmp_path.iterdir()] == [str(alive)]
