"""The embedded server keeps what it acknowledged, and comes back where it was."""

from __future__ import annotations

import os
import stat

import psutil
import pytest
import redis
from waiting import until

from aspen.log import RedisLog
from aspen.log.entry import Tick
from smartcis.environment import redis_socket
from smartcis.services import child as children
from smartcis.services.embedded_redis import (
    APPEND_ONLY,
    COMMANDS_OFF,
    EmbeddedRedis,
    EmbeddedRedisFailed,
)

FAILED = "the embedded Redis server did not start"


@pytest.fixture
def server(tmp_path):
    made = EmbeddedRedis(tmp_path / "redis")
    yield made
    made.stop()


def started(server):
    server.start()
    return server.url


def kill(server):
    server.process.kill()
    server.process.wait()


def test_a_kill_loses_nothing_that_was_acknowledged(server):
    log = RedisLog(started(server), "test")
    for turn in range(3):
        for number in range(200):
            log.append([Tick(float(number))])
        kill(server)
        server.start()
        assert log.head() == 200 * (turn + 1)


@pytest.mark.parametrize("short", range(1, 400, 23))
def test_half_a_transaction_is_not_done_with_what_follows(server, short):
    script = """
    for number = 1, 5 do redis.call('HINCRBY', 'counts', number, 1) end
    redis.call('SET', 'done', ARGV[1])
    """
    with redis.Redis.from_url(started(server)) as client:
        client.eval(script, 0, "once")
        whole = (server.logs / APPEND_ONLY).stat().st_size
        client.eval(script, 0, "twice")
    kill(server)
    size = (server.logs / APPEND_ONLY).stat().st_size
    os.truncate(server.logs / APPEND_ONLY, max(whole, size - short))
    for _ in range(2):
        server.start()
        with redis.Redis.from_url(server.url) as client:
            client.incr("starts")  # what Redis writes next must not end what was begun
            assert set(client.hvals("counts")) == {b"1"}
            assert client.get("done") == b"once"
        kill(server)
    server.start()
    assert server.lost == ""


def test_one_that_cannot_come_back_is_started_until_it_can(server, monkeypatch):
    monkeypatch.setattr(children, "LONGEST_PAUSE_S", 0.2)
    log = RedisLog(started(server), "test", patience_s=0.0)
    log.append([Tick(1.0)])
    kept = server.logs / "kept"
    (server.logs / APPEND_ONLY).rename(kept)
    (server.logs / APPEND_ONLY).mkdir()  # as if the disk did not give it
    kill(server)
    said = []
    until(
        lambda: said.count("cannot be started: " + FAILED) > 1, also=lambda: watched(server, said)
    )
    (server.logs / APPEND_ONLY).rmdir()
    kept.rename(server.logs / APPEND_ONLY)
    until(server.answers, also=lambda: watched(server, said))
    assert log.head() == 1


def watched(server, said):
    said.append(server.watch())


def test_a_running_server_is_found_again(server):
    server.start()
    second = EmbeddedRedis(server.logs)
    second.start()
    assert second.url == server.url
    assert second.process is None
    second.stop()
    assert server.answers()


def test_only_its_own_account_reaches_it(server):
    server.start()
    path = redis_socket(server.logs)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not psutil.Process(server.process.pid).net_connections("inet")


@pytest.mark.parametrize("command", COMMANDS_OFF)
def test_what_could_undo_everything_is_off(server, command):
    server.start()
    with redis.Redis.from_url(server.url) as client:
        with pytest.raises(redis.ResponseError, match="unknown command"):
            client.execute_command(command)
        assert client.ping()


def test_a_folder_too_deep_for_a_socket_has_it_elsewhere(tmp_path):
    deep = EmbeddedRedis(tmp_path.joinpath(*["a folder with a long name"] * 5))
    try:
        deep.start()
        path = redis_socket(deep.logs)
        assert deep.logs not in path.parents
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    finally:
        deep.stop()


def filled(server, entries=30):
    """Fills a server's file with a log, and kills it; gives the file."""
    log = RedisLog(started(server), "test")
    for number in range(entries):
        log.append([Tick(float(number))])
    kill(server)
    return server.logs / APPEND_ONLY


def broken_in_the_middle(data):
    half = len(data) // 2
    return data[:half] + b"\xff" * 9 + data[half + 9 :]


@pytest.mark.parametrize(
    ("damage", "kept", "said"),
    [
        (lambda data: data + bytes(500), {30}, "500 bytes after the first"),
        (lambda data: data[:-20] + bytes(20), {29}, "damaged"),
        (lambda data: data[:-7], {29}, "damaged"),
        (lambda data: data, {30}, ""),
        (lambda _data: b"", {0}, ""),
        (lambda data: bytes(len(data)), {0}, "after the first 0 were damaged"),
        (broken_in_the_middle, {12, 13, 14, 15}, "lost"),
    ],
)
def test_a_damaged_file_is_cut_and_what_was_lost_is_said(server, damage, kept, said):
    file = filled(server)
    whole = damage(file.read_bytes())
    file.write_bytes(whole)
    log = RedisLog(started(server), "test")
    assert log.head() in kept
    assert said in server.lost
    assert bool(server.lost) == bool(said)
    head = log.append([Tick(99.0)])  # and it can be written to again
    kill(server)
    started(server)
    assert log.head() == head
    assert server.lost == ""
    for aside in server.logs.glob("*.lost-*"):
        assert whole.endswith(aside.read_bytes())


def test_a_file_that_redis_wrote_anew_is_cut_behind_its_dump(server):
    log = RedisLog(started(server), "test")
    log.append([Tick(1.0), Tick(2.0)])
    with redis.Redis.from_url(server.url) as client:
        client.bgrewriteaof()
        until(lambda: (server.logs / APPEND_ONLY).read_bytes().startswith(b"REDIS"))
        until(lambda: not client.info("persistence")["aof_rewrite_in_progress"])
    log.append([Tick(3.0)])
    kill(server)
    file = server.logs / APPEND_ONLY
    file.write_bytes(file.read_bytes() + bytes(100))
    assert RedisLog(started(server), "test").head() == 3
    assert "100 bytes" in server.lost


def test_nothing_is_acknowledged_that_a_full_disk_did_not_take(server):
    log = RedisLog(started(server), "test", patience_s=0.2)
    size = (server.logs / APPEND_ONLY).stat().st_size
    psutil.Process(server.process.pid).rlimit(psutil.RLIMIT_FSIZE, (size + 2_000, -1))
    acknowledged = 0
    with pytest.raises(redis.RedisError):  # which of them finds it full, nobody knows
        for number in range(1_000):
            acknowledged = log.append([Tick(float(number))])
    kill(server)
    head = RedisLog(started(server), "test").head()
    assert 0 < acknowledged <= head <= acknowledged + 1


def test_a_file_in_the_way_is_set_aside(server):
    server.logs.mkdir()
    (server.logs / APPEND_ONLY).write_text("this is no append-only file\n")
    assert RedisLog(started(server), "test").head() == 0
    (aside,) = server.logs.glob("*.lost-*")
    assert aside.read_text() == "this is no append-only file\n"


def test_a_folder_in_the_way_is_reported(tmp_path):
    (tmp_path / "redis" / APPEND_ONLY).mkdir(parents=True)
    with pytest.raises(EmbeddedRedisFailed) as failed:
        EmbeddedRedis(tmp_path / "redis").start()
    assert "append" in failed.value.found.lower()


def test_stopping_leaves_no_process(server):
    server.start()
    pid = server.process.pid
    server.stop()
    assert not psutil.pid_exists(pid)
