"""The engine's supervisor against engines that live, die, hang and fail at once."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import time

import psutil
import pytest
import redis
from waiting import PATIENCE_S, until

from aspen.results.engine_status import EngineStatus, read_status
from aspen.results.lease import Lease, process_name
from smartcis.services.engine_supervisor import SUPERVISED, EngineSupervisor
from smartcis.services.product import NotLive, Product

# An engine in miniature: takes the real lease, writes the real status, does no work.
ENGINE = """
import os, socket, sys, time
import redis
from aspen.results.engine_status import EngineStatus, write_status
from aspen.results.lease import Lease, process_name
url, name, beats = sys.argv[1], sys.argv[2], int(sys.argv[3])
lease = Lease(url, name, 60)
client = redis.Redis.from_url(url)
if "--standby" in sys.argv:
    client.sadd(name + ":standing-by", os.getpid())
    told = sys.stdin.readline()
    client.rpush(name + ":told", f"{os.getpid()} {told.strip()}")
    if not told:
        sys.exit(1)
assert lease.acquire()
spark_s = float(os.environ.get("SPARK_TAKES_S", 0))
write_status(client, name, EngineStatus("starting", os.getpid(), socket.gethostname(),
                                        beat_s=time.time()))
time.sleep(spark_s)
while True:
    if beats > 0:
        write_status(client, name, EngineStatus("live", os.getpid(), socket.gethostname(),
                                                beat_s=time.time(), generation="g"))
        beats -= 1
    time.sleep(0.05)
"""


class Case:
    def __init__(self, url, folder):
        self.name = f"test-{secrets.token_hex(6)}"
        self.client = redis.Redis.from_url(url)
        self.url, self.folder = url, folder
        self.supervisors = []

    def supervise(
        self,
        beats=1_000_000,
        program=ENGINE,
        standbys=0,
        spark_s=0.0,
        starting_s=PATIENCE_S,
        silent_s=PATIENCE_S,
    ):
        command = [sys.executable, "-c", program, self.url, self.name, str(beats), SUPERVISED]
        made = EngineSupervisor(
            self.url,
            self.name,
            command,
            self.folder / "engine.log",
            {**os.environ, "SPARK_TAKES_S": str(spark_s)},
            standbys,
            starting_s=starting_s,
            silent_s=silent_s,
        )
        self.supervisors.append(made)
        return made

    @property
    def status(self):
        return read_status(self.client, self.name)

    @property
    def standing_by(self):
        """Process ids of all that ever stood by."""
        return set(map(int, self.client.smembers(f"{self.name}:standing-by")))

    @property
    def told(self):
        """What those heard."""
        return [line.decode().split() for line in self.client.lrange(f"{self.name}:told", 0, -1)]


@pytest.fixture
def case(redis_url, tmp_path):
    made = Case(redis_url, tmp_path)
    yield made
    for supervisor in made.supervisors:
        supervisor.stop()


def test_an_engine_is_started_and_left_alone(case):
    supervisor = case.supervise()
    assert supervisor.look() == "started"
    until(lambda: case.status.state == "live")
    pid = case.status.pid
    assert [supervisor.look() for _ in range(3)] == ["", "", ""]
    assert case.status.pid == pid


def test_a_killed_one_is_replaced_at_once_although_its_lease_still_runs(case):
    supervisor = case.supervise()
    supervisor.look()
    until(lambda: case.status.state == "live")
    pid = case.status.pid
    os.kill(pid, signal.SIGKILL)
    until(lambda: case.status.pid != pid, also=supervisor.look)


def test_a_silent_one_is_killed_and_replaced(case):
    supervisor = case.supervise(beats=6, silent_s=0.5)
    supervisor.look()
    until(lambda: case.status.state == "live")
    pid = case.status.pid
    done = []
    until(lambda: case.status.pid != pid, also=lambda: done.append(supervisor.look()))
    assert "killed" in done
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_slow_spark_is_not_taken_for_silence(case):
    supervisor = case.supervise(spark_s=2.0, silent_s=0.5)
    assert supervisor.look() == "started"
    pid, done = supervisor.pid, []
    until(lambda: case.status.state == "live", also=lambda: done.append(supervisor.look()))
    assert case.status.pid == pid
    assert set(done) == {""}


def test_one_whose_spark_is_never_ready_is_replaced_and_the_status_says_what_to_set(case):
    supervisor = case.supervise(spark_s=1e6, starting_s=1.5)
    supervisor.look()
    pid, reports = supervisor.pid, set()

    def look():
        supervisor.look()
        reports.add(case.status.error)

    until(lambda: supervisor.starts > 1 and any(reports), also=look)
    assert supervisor.pid != pid
    assert any("raise SMARTCIS_STARTING_S" in error for error in reports)


def test_one_that_fails_at_once_is_started_more_and_more_rarely(case):
    supervisor = case.supervise(program="raise SystemExit(3)")
    starts = []

    def look():
        if supervisor.look() == "started":
            starts.append(time.monotonic())

    until(lambda: len(starts) == 4, also=look)
    assert starts[2] - starts[1] >= 0.5
    assert starts[3] - starts[2] >= 1.0


def test_an_engine_elsewhere_is_left_alone(case):
    lease = Lease(case.url, case.name, 60)
    assert lease.acquire()
    supervisor = case.supervise()
    assert supervisor.look() == ""
    lease.release()
    assert supervisor.look() == "started"


def test_an_engine_outlives_its_supervisor_and_is_adopted(case):
    case.supervise().look()
    until(lambda: case.status.state == "live")
    pid = case.status.pid
    second = case.supervise()
    assert second.look() == "adopted"
    assert second.pid == pid
    assert second.look() == ""
    os.kill(pid, signal.SIGKILL)
    until(lambda: case.status.pid != pid, also=second.look)
    assert second.starts == 1


def test_an_adopted_one_that_is_silent_is_killed_and_replaced(case):
    case.supervise(beats=6).look()
    until(lambda: case.status.state == "live")
    pid = case.status.pid
    second = case.supervise(silent_s=0.5)
    done = []
    until(lambda: case.status.pid != pid, also=lambda: done.append(second.look()))
    assert done[0] == "adopted"
    assert "killed" in done


def test_an_adopted_one_is_stopped_in_order(case):
    first, second = case.supervise(), case.supervise()
    first.look()
    until(lambda: case.status.state == "live")
    pid = case.status.pid
    second.look()
    second.stop()
    assert case.status.pid == pid
    first.look()
    assert Lease(case.url, case.name, 1).holder() != process_name(pid)


def test_the_lease_of_one_that_is_dead_does_not_keep_the_next_waiting(case):
    dead = subprocess.Popen(["true"])
    dead.wait()
    case.client.set(f"{case.name}:lease", f"1 {process_name(dead.pid)}", ex=600)
    supervisor = case.supervise()
    assert supervisor.look() == "started"


def test_a_clock_that_jumps_does_not_look_like_silence(case, monkeypatch):
    supervisor = case.supervise()
    supervisor.look()
    until(lambda: case.status.state == "live")
    pid = case.status.pid
    monkeypatch.setattr(time, "time", lambda: 4e9)
    assert [supervisor.look() for _ in range(3)] == ["", "", ""]
    assert case.status.pid == pid


def test_stopping_ends_the_engine_and_frees_the_lease(case):
    supervisor = case.supervise()
    supervisor.look()
    until(lambda: case.status.state == "live")
    pid = case.status.pid
    supervisor.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert Lease(case.url, case.name, 1).held_for_s() == 0
    assert supervisor.pid == 0


def test_one_that_ends_without_a_word_leaves_its_last_line_in_the_status(case):
    supervisor = case.supervise(program="import sys; sys.exit('no Java here')")
    supervisor.look()
    until(lambda: case.status.state == "failed", also=supervisor.look)
    assert case.status.error == "ended with status 1: no Java here"
    assert case.status.pid


def test_a_start_whose_engine_fails_says_why_and_is_given_up(case, monkeypatch):
    said = []
    monkeypatch.setenv("REDIS_URL", case.url)
    product = Product(case.folder / "manage.py", case.folder, 0, case.name, said.append)
    product.use_redis(case.url)
    monkeypatch.setattr(product, "_web_answers", lambda: True)
    supervisor = case.supervise(program="raise ValueError('upper case')")
    monkeypatch.setattr(product, "watch", supervisor.look)
    with pytest.raises(
        NotLive, match=r"ended with status 1: ValueError: upper case; see .*engine\.log"
    ):
        product.wait_until_live()
    assert sum("the engine failed: ended with status 1" in line for line in said) == 3


def test_a_start_goes_on_while_redis_is_late(case, monkeypatch):
    said, answers = [], iter([redis.TimeoutError(), redis.ConnectionError(), "live"])

    def late(_server, _name):
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return EngineStatus(state=answer, epoch=3, position=7, beat_s=time.time())

    product = Product(case.folder / "manage.py", case.folder, 0, case.name, said.append)
    monkeypatch.setattr("smartcis.services.product.read_status", late)
    monkeypatch.setattr(product, "_web_answers", lambda: 1)
    monkeypatch.setattr(product, "watch", lambda: None)
    product.wait_until_live()
    assert said[-1].endswith("epoch 3, log position 7")


def kill(*pids):
    """Kill processes, and go on once they are dead; nobody has asked for their status yet."""
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    for pid in pids:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)


def with_standby(case, standbys=1):
    supervisor = case.supervise(standbys=standbys)
    supervisor.look()
    until(lambda: case.status.state == "live")
    until(lambda: len(case.standing_by) == standbys, also=supervisor.look)
    return supervisor


def test_without_a_setting_nobody_stands_by(case):
    supervisor = case.supervise()
    supervisor.look()
    until(lambda: case.status.state == "live")
    pid = case.status.pid
    kill(pid)
    until(lambda: case.status.pid != pid, also=supervisor.look)
    assert not case.standing_by


def test_a_standby_waits_until_the_engine_is_live_and_takes_over_once(case):
    supervisor = case.supervise(standbys=1)
    supervisor.look()
    assert not case.standing_by
    until(lambda: case.status.state == "live")
    until(lambda: case.standing_by, also=supervisor.look)
    (waiting,) = case.standing_by
    assert case.told == []
    kill(case.status.pid)
    until(lambda: case.status.pid == waiting, also=supervisor.look)
    assert supervisor.pid == waiting
    assert case.told == [[str(waiting), "begin"]]
    until(lambda: len(case.standing_by) == 2, also=supervisor.look)
    assert Lease(case.url, case.name, 1).holder() == process_name(waiting)


def test_the_one_that_hangs_is_dead_before_a_standby_begins(case):
    supervisor = with_standby(case)
    (waiting,), pid = case.standing_by, case.status.pid
    supervisor._silent_s = 0.5
    os.kill(pid, signal.SIGSTOP)
    until(lambda: supervisor.pid == waiting, also=supervisor.look)
    assert not psutil.pid_exists(pid)
    until(lambda: case.status.pid == waiting)


def test_a_standby_that_dies_is_replaced_and_the_engine_left_alone(case):
    supervisor = with_standby(case)
    (waiting,), pid = case.standing_by, case.status.pid
    kill(waiting)
    until(lambda: len(case.standing_by) == 2, also=supervisor.look)
    assert case.status.pid == supervisor.pid == pid


def test_where_the_standby_died_with_the_engine_another_engine_is_started(case):
    supervisor = with_standby(case)
    (waiting,), pid = case.standing_by, case.status.pid
    kill(waiting, pid)
    until(lambda: case.status.pid not in {pid, waiting}, also=supervisor.look)
    assert case.told == []


def test_one_that_took_over_and_dies_before_another_stands_by_is_started_anew(case):
    supervisor = with_standby(case)
    (waiting,), pid = case.standing_by, case.status.pid
    kill(pid)
    until(lambda: supervisor.pid == waiting, also=supervisor.look)
    kill(waiting)
    until(lambda: case.status.pid not in {pid, waiting}, also=supervisor.look)
    assert case.status.pid not in case.standing_by
    assert case.told in ([], [[str(waiting), "begin"]])


def test_of_two_standbys_one_is_told(case):
    supervisor = with_standby(case, standbys=2)
    first, pid = case.standing_by, case.status.pid
    kill(pid)
    until(lambda: case.status.pid != pid, also=supervisor.look)
    assert case.status.pid in first
    assert len(case.told) == 1


def test_a_standby_told_while_another_holds_the_lease_does_not_work(case):
    supervisor = with_standby(case)
    (waiting,), pid = case.standing_by, case.status.pid
    case.client.set(f"{case.name}:lease", "99 elsewhere:1", ex=600)
    kill(pid)
    until(lambda: case.told, also=supervisor.look)
    until(lambda: not psutil.pid_exists(waiting), also=supervisor.look)
    assert case.status.pid == pid
    assert Lease(case.url, case.name, 1).holder() == "elsewhere:1"


def test_a_standby_ends_with_its_supervisor_and_the_next_one_starts_its_own(case):
    first = with_standby(case)
    (waiting,), pid = case.standing_by, case.status.pid
    # What a supervisor that dies leaves behind: the engine, and the end of a standby's input.
    first._standbys.pop().process.stdin.close()
    second = case.supervise(standbys=1)
    assert second.look() == "adopted"
    until(lambda: case.told == [[str(waiting)]], also=second.look)
    until(lambda: len(case.standing_by) == 2, also=second.look)
    assert case.status.pid == pid


def test_stopping_ends_the_standby_too(case):
    supervisor = with_standby(case)
    (waiting,) = case.standing_by
    supervisor.stop()
    assert not psutil.pid_exists(waiting)
