"""Whether a host's processes are well, by what their supervisor and the engine say."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time

import pytest

from aspen.results.engine_status import EngineStatus, write_status
from smartcis import composition
from smartcis.services.healthy import faults
from smartcis.services.processes import ProcessState, write_processes

HOST = socket.gethostname()


@pytest.fixture
def said(building):
    """Say how processes are; returns what speaks against their health."""

    def say(*wanted, host=HOST, **pids):
        states = [ProcessState(name, host, pid, 1, "") for name, pid in pids.items()]
        write_processes(composition.server(), building, "here", states)
        return faults(composition.server(), building, wanted, HOST)

    return say


def test_all_that_are_up_are_well_and_others_do_not_matter(said):
    assert said("clock", "beat", clock=1, beat=2, web=0) == []


def test_one_that_is_down_or_elsewhere_is_named(said):
    assert said("clock", clock=0) == ["clock is down: "]
    assert said("beat", clock=1) == [f"beat is not looked after on {HOST}"]
    assert said("sources", host="another", sources=1) != []


def test_an_engine_that_is_up_and_says_nothing_is_not_well(said, building):
    write_status(composition.server(), building, EngineStatus("live", 7, HOST, beat_s=1.0))
    assert said("engine", engine=7) == ["the engine is offline: it has not begun"]
    now_s = time.time()
    starting = EngineStatus("starting", 7, HOST, beat_s=now_s)
    write_status(composition.server(), building, starting)
    assert said("engine", engine=7) == []


def test_the_command_says_it_without_django(building, redis_url):
    write_processes(composition.server(), building, "here", [ProcessState("clock", HOST, 1, 1)])
    ask = (
        "import sys; from smartcis.services.healthy import main; code = main(sys.argv[1:]); "
        "assert 'django' not in sys.modules; sys.exit(code)"
    )

    def asked(name, url):
        environment = {**os.environ, "REDIS_URL": url, "SMARTCIS_NAME": building}
        return subprocess.run(
            [sys.executable, "-c", ask, name],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    assert asked("clock", redis_url).returncode == 0
    lacking = asked("beat", redis_url)
    assert (lacking.returncode, lacking.stderr) == (1, f"beat is not looked after on {HOST}\n")
    away = asked("clock", "redis://127.0.0.1:1/0")
    assert away.returncode == 1
    assert "does not answer" in away.stderr
