"""Time enters the log in order: gaps are made good, a clock that is set back stops nothing."""

from __future__ import annotations

from itertools import pairwise

import pytest
from django.conf import settings

from aspen.log.entry import Tick, Transaction
from aspen.log.redis_log import RedisLog
from smartcis.services.clock import MADE_GOOD, LogClock, missing_ticks

NOON_S = 1_800_000_000.0


class Time:
    """A machine whose time of day can be set; its steady clock cannot."""

    def __init__(self):
        self.steady_s, self.off_s = 0.0, NOON_S

    def wall(self):
        return self.steady_s + self.off_s

    def steady(self):
        return self.steady_s


@pytest.fixture
def time():
    return Time()


def clock_of(time, name):
    """A clock as of a process that begins now, which has looked nothing up yet."""
    made = RedisLog(settings.REDIS_URL, name)
    return LogClock(made, time.wall, time.steady), made


def ticks(found):
    return [entry.at_s for _, entry in found.read(0, found.head()) if isinstance(entry, Tick)]


def run(clock, time, seconds):
    for _ in range(seconds):
        time.steady_s += 1.0
        clock.tick()


def test_a_tick_a_second(building, time):
    clock, found = clock_of(time, building)
    run(clock, time, 3)
    assert ticks(found) == [NOON_S + 1, NOON_S + 2, NOON_S + 3]


def test_another_process_makes_good_what_its_predecessor_missed(building, time):
    clock, found = clock_of(time, building)
    run(clock, time, 2)
    # Readings go on while nobody keeps time, more of them than one look back shows.
    for _ in range(3):
        found.append([Transaction(time.wall(), ())] * 700)
    time.steady_s += 5.0
    clock, found = clock_of(time, building)
    clock.tick()
    assert ticks(found) == [NOON_S + s for s in (1, 2, 3, 4, 5, 6, 7)]


def test_a_night_is_made_good_in_a_bearable_number_of_steps(building, time):
    clock, found = clock_of(time, building)
    run(clock, time, 1)
    time.steady_s += 8 * 3600
    assert clock.tick() == MADE_GOOD + 1
    told = ticks(found)
    steps = {round(after - before, 3) for before, after in pairwise(told)}
    assert steps == {round(8 * 3600 / (MADE_GOOD + 1), 3)}


def test_a_clock_set_back_goes_on_and_comes_to_agree_again(building, time):
    clock, found = clock_of(time, building)
    run(clock, time, 3)
    time.off_s -= 2.0
    run(clock, time, 40)
    told = ticks(found)
    assert all(before < after for before, after in pairwise(told))
    assert told[-1] == pytest.approx(time.wall(), abs=1e-6)
    assert len(told) == 43


def test_what_is_appended_while_log_time_is_ahead_gets_log_time(building, time):
    clock, found = clock_of(time, building)
    run(clock, time, 3)
    time.off_s -= 3600.0
    run(clock, time, 2)
    writer = clock_of(time, building)[1]
    writer.append([Transaction(time.wall(), ())])
    (_, last), (_, tick) = writer.read(writer.head() - 1, writer.head())[0], found.read(0, 5)[-1]
    assert last.at_s == pytest.approx(tick.at_s, abs=1.0)
    # And a clock that begins anew knows of it, too.
    again, _ = clock_of(time, building)
    run(again, time, 1)
    assert tick.at_s < ticks(found)[-1] < tick.at_s + 1.5


def test_a_clock_set_forward_makes_the_gap_good(building, time):
    clock, found = clock_of(time, building)
    run(clock, time, 1)
    time.off_s += 10.0
    run(clock, time, 1)
    assert ticks(found) == [NOON_S + s for s in range(1, 13)]


def test_no_tick_is_missing_between_two_that_follow_each_other():
    assert missing_ticks(5.0, 6.9) == []
    assert missing_ticks(5.0, 7.0) == [6.0]
