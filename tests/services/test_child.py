"""Children are started again, more and more slowly when they fail at once, and leave nobody."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import psutil
import pytest
from waiting import until

from smartcis.services.child import LONGEST_PAUSE_S, BackOff, Child

SLEEPER = [sys.executable, "-c", "import time; time.sleep(600)"]
WITH_GRANDCHILD = [
    sys.executable,
    "-c",
    (
        "import subprocess, sys, time\n"
        "one = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "print(one.pid, flush=True); time.sleep(600)"
    ),
]


@pytest.fixture
def child(tmp_path):
    made = Child("sleeper", SLEEPER, os.environ, tmp_path, patience_s=5)
    yield made
    made.stop()


def test_a_child_that_dies_is_started_again(child):
    child.start()
    first = child.process.pid
    assert child.watch() == ""
    os.kill(first, signal.SIGKILL)
    until(lambda: "status -9" in child.watch())
    until(lambda: child.watch() == "started again")
    assert child.process.pid != first
    assert child.starts == 2


def test_it_waits_longer_each_time_it_fails_at_once():
    back_off = BackOff()
    pauses = [back_off.pause_s(ran_s=0.1) for _ in range(9)]
    assert pauses == [0, 0.5, 1, 2, 4, 8, LONGEST_PAUSE_S, LONGEST_PAUSE_S, LONGEST_PAUSE_S]
    assert back_off.pause_s(ran_s=60) == 0
    assert [back_off.pause_s(ran_s=0.1) for _ in range(2)] == [0, 0.5]


def test_stopping_ends_what_the_child_started(tmp_path):
    child = Child("parent", WITH_GRANDCHILD, os.environ, tmp_path, patience_s=5)
    child.start()
    log = tmp_path / "parent.log"
    until(lambda: log.read_text().strip())
    grandchild = int(log.read_text())
    child.stop()
    until(lambda: not psutil.pid_exists(grandchild) or _is_zombie(grandchild))


def test_one_that_does_not_listen_is_killed(tmp_path):
    deaf = [
        sys.executable,
        "-c",
        (
            "import signal, time; signal.signal(15, signal.SIG_IGN); print('on', flush=True); "
            "time.sleep(600)"
        ),
    ]
    child = Child("deaf", deaf, os.environ, tmp_path, patience_s=0.3)
    child.start()
    until(lambda: "on" in (tmp_path / "deaf.log").read_text())
    process = child.process
    child.stop()
    assert process.poll() == -signal.SIGKILL


def test_children_end_with_a_parent_that_is_killed(tmp_path):
    program = (
        "import os, sys, time; from pathlib import Path\n"
        "from smartcis.services.child import Child\n"
        "child = Child('c', [sys.executable, '-c', 'import time; time.sleep(600)'], "
        "os.environ, Path(sys.argv[1]))\n"
        "child.start(); print(child.process.pid, flush=True); time.sleep(600)"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    pid = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    until(lambda: not psutil.pid_exists(pid) or _is_zombie(pid))


def _is_zombie(pid):
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
