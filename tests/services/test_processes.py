"""What stands still is killed, what says nothing is killed, and what is down is named."""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import time

import psutil
import pytest
import redis
from waiting import PATIENCE_S, until

from smartcis.services import child as children
from smartcis.services import stopped
from smartcis.services.child import Child
from smartcis.services.processes import (
    ProcessState,
    forget_processes,
    read_processes,
    supervisor_of,
    write_processes,
)
from smartcis.services.product import HOST, Product
from smartcis.services.stopped import Stopped

SLEEPER = "import time; time.sleep(600)"
BEATS_THRICE = """
import time
from smartcis.services.heartbeat import beat
for _ in range(3): beat(); time.sleep(0.1)
time.sleep(600)
"""


@pytest.fixture
def made(tmp_path):
    started = []

    def start(program, **options):
        command = [sys.executable, "-c", program]
        one = Child("one", command, os.environ, tmp_path, PATIENCE_S, **options)
        started.append(one)
        one.start()
        return one

    yield start
    for one in started:
        one.stop()


def test_one_that_beats_no_more_is_killed_and_started_again(made, monkeypatch):
    monkeypatch.setattr(children, "SILENT_S", 0.5)
    one = made(BEATS_THRICE, beats=True)
    pid = one.pid
    said = []
    until(lambda: one.starts == 2, also=lambda: said.append(one.watch()))
    assert "says nothing any more, killed" in said
    assert not psutil.pid_exists(pid)


def test_one_whose_supervisor_is_gone_does_not_stay_for_ever():
    deaf = """
import signal, time
from smartcis.services import heartbeat
signal.signal(signal.SIGTERM, signal.SIG_IGN)
heartbeat.FAREWELL_S = 0.3
heartbeat.beat()
time.sleep(600)  # stuck: it beats no more
"""
    supervisor = f"""
import os, sys
from pathlib import Path
from smartcis.services.child import Child
one = Child("deaf", [sys.executable, "-c", {deaf!r}], os.environ, Path(sys.argv[1]))
one.start()
print(one.pid, flush=True)
os.kill(os.getpid(), 9)
"""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", supervisor, folder]
        pid = int(subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout)
        until(lambda: not alive(pid))


def alive(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_one_that_need_not_beat_is_left_alone(made):
    one = made(SLEEPER, starting_s=0.0)
    time.sleep(0.1)
    assert one.watch() == ""


def test_one_that_never_begins_to_beat_is_killed(made):
    one = made(SLEEPER, beats=True, starting_s=0.2)
    until(lambda: one.watch() == "says nothing any more, killed")


def test_one_that_stands_still_is_killed_and_one_that_is_woken_is_not(made, monkeypatch):
    monkeypatch.setattr(stopped, "STOPPED_S", 0.3)
    still, woken = made(SLEEPER), made(SLEEPER)
    guard, pid = Stopped(), still.pid
    for one in (still, woken):
        os.kill(one.pid, signal.SIGSTOP)
    until(lambda: psutil.Process(woken.pid).status() == psutil.STATUS_STOPPED)
    guard.end([still.pid, woken.pid])
    os.kill(woken.pid, signal.SIGCONT)
    said = []
    until(still.watch, also=lambda: said.extend(guard.end([pid, woken.pid])))
    assert [line for line in said if f"({pid}) stood still, killed" in line]
    assert woken.watch() == ""


def test_a_stopped_one_can_be_ended_in_order(made):
    one = made(SLEEPER)
    os.kill(one.pid, signal.SIGSTOP)
    process = one.process
    one.stop()
    assert process.poll() == -signal.SIGTERM, "it was woken, not killed"


def test_what_is_down_is_named(redis_url):
    client, name = redis.Redis.from_url(redis_url), f"test-{secrets.token_hex(4)}"
    up, down = ProcessState("web", "here", 7, 1), ProcessState("clock", "here", 0, 3, "ended")
    write_processes(client, name, "here", [up, down])
    assert read_processes(client, name) == [down, up]
    assert [state.up for state in read_processes(client, name)] == [False, True]
    silence(client, name, 60)
    assert not any(state.up for state in read_processes(client, name))
    assert re.search(r"silent for [6-9]\d s", read_processes(client, name)[1].said)


def silence(client, name, silent_s):
    """Lets all that was said be `silent_s` older."""
    for field, text in client.hgetall(f"{name}:supervised").items():
        at_s, state = json.loads(text)
        client.hset(f"{name}:supervised", field, json.dumps([at_s - silent_s, state]))


def test_two_products_on_one_host_do_not_mix_and_a_host_may_change_its_name(redis_url, tmp_path):
    client, name = redis.Redis.from_url(redis_url), f"test-{secrets.token_hex(4)}"
    folders = [tmp_path / "one", tmp_path / "other"]
    for folder in folders:
        folder.mkdir()
    one, other = map(supervisor_of, folders)
    write_processes(client, name, one, [ProcessState("web", "h", 7, 1)])
    write_processes(client, name, other, [ProcessState("web", "h", 8, 1)])
    assert sorted(state.pid for state in read_processes(client, name)) == [7, 8]
    write_processes(client, name, supervisor_of(folders[0]), [ProcessState("web", "new", 9, 1)])
    assert {(state.host, state.pid) for state in read_processes(client, name)} == {
        ("new", 9),
        ("h", 8),
    }
    forget_processes(client, name, one)
    assert [state.pid for state in read_processes(client, name)] == [8]


def test_a_supervisor_that_was_silent_for_a_day_is_forgotten(redis_url):
    client, name = redis.Redis.from_url(redis_url), f"test-{secrets.token_hex(4)}"
    write_processes(client, name, "gone", [ProcessState("web", "h", 7, 1)])
    silence(client, name, 90_000)
    assert read_processes(client, name) == []
    forget_processes(client, name, "another")
    assert not client.exists(f"{name}:supervised")


def test_a_supervisor_tells_of_its_processes_and_forgets_them_when_it_ends(
    building, redis_url, tmp_path
):
    client = redis.Redis.from_url(redis_url)
    product = Product(tmp_path / "manage.py", tmp_path, 0, building, lambda _line: None)
    product.use_redis(redis_url)
    product.start("simulator")  # which finds no manage.py, and ends
    told = []

    def watch():
        product.watch()
        told.extend(read_processes(client, building))

    until(lambda: any(not one.up and "ended with status 2" in one.said for one in told), also=watch)
    assert {(one.name, one.host) for one in told} == {("simulator", HOST)}
    product.stop()
    assert read_processes(client, building) == []
