"""The embedded server keeps what it acknowledged, and comes back where it was."""

from __future__ import annotations

import socket

import psutil
import pytest

from aspen.log import RedisLog
from aspen.log.entry import Tick
from smartcis.services.embedded_redis import EmbeddedRedis, EmbeddedRedisFailed


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
        port = server.port
        kill(server)
        server.start()
        assert server.port == port
        assert log.head() == 200 * (turn + 1)


def test_a_running_server_is_found_again(server):
    server.start()
    second = EmbeddedRedis(server.logs)
    second.start()
    assert second.url == server.url
    assert second.process is None
    second.stop()
    assert server.answers()


def test_a_port_that_was_taken_meanwhile_is_left_alone(server):
    RedisLog(started(server), "test").append([Tick(1.0)])
    port = server.port
    kill(server)
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", port))
        other.listen()
        url = started(server)
    assert server.port != port
    assert RedisLog(url, "test").head() == 1


def test_a_file_in_the_way_is_reported(tmp_path):
    folder = tmp_path / "redis"
    folder.mkdir()
    (folder / "appendonly.aof").write_text("this is no append-only file\n")
    with pytest.raises(EmbeddedRedisFailed) as failed:
        EmbeddedRedis(folder).start()
    assert "AOF" in failed.value.found or "append" in failed.value.found


def test_stopping_leaves_no_process(server):
    server.start()
    pid = server.process.pid
    server.stop()
    assert not psutil.pid_exists(pid)
