"""When an engine without progress is given up: by what it computes, not by the clock alone."""

from __future__ import annotations

import time

from aspen.spark.stall import Stall, family_cpu_s

LIMIT_S = 100.0


def given_up_after(cpu_per_s):
    """Returns after how many seconds of silence an engine is given up."""
    now = 0.0
    stall = Stall(LIMIT_S, lambda: cpu_per_s * now)
    while not stall.after(now):
        now += 1.0
    return now


def test_one_that_waits_for_nothing_is_given_up_at_the_limit():
    assert given_up_after(0.01) == LIMIT_S + 1


def test_one_that_gets_little_of_the_processor_has_five_times_as_long():
    assert given_up_after(0.1) == 5 * LIMIT_S + 1


def test_progress_begins_the_count_anew():
    used_s = 0.0
    stall = Stall(LIMIT_S, lambda: used_s)
    assert not stall.after(60)
    used_s = 50.0  # computed before the progress that follows
    assert not stall.after(1)
    assert not stall.after(60)
    assert stall.after(101)


def test_processor_time_of_this_process_counts():
    before_s = family_cpu_s()
    began = time.process_time()
    while time.process_time() - began < 0.2:
        pass
    assert family_cpu_s() - before_s > 0.1  # and what others of the family take besides
