"""Alarms of one key begin and end as a look at every single second says."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from aspen.streamsql.alarm_rule import AlarmRule
from smartcis.deliveries.lifecycle import AlarmStep, Happened, Seen, Watch, due_s, see, settle

RULE = AlarmRule(raise_s=30.0, clear_s=60.0, silent_s=300.0)
RULES = st.builds(
    AlarmRule,
    raise_s=st.integers(0, 6).map(float),
    clear_s=st.integers(0, 6).map(float),
    silent_s=st.none() | st.integers(1, 8).map(float),
)
MOMENTS = st.lists(st.tuples(st.integers(0, 5), st.sampled_from(Seen)), max_size=25)
END_S = 20
Moments = list[tuple[int, Seen]]


def told(rule: AlarmRule, moments: Moments, *, looks: bool = False) -> list[Happened]:
    """Returns what happens to a key; with looks, at every second somebody asks what is due."""
    watch, at_s, happened = Watch(), 0, []
    for pause_s, seen in moments:
        for second in range(at_s, at_s + pause_s) if looks else ():
            watch, more = settle(watch, rule, float(second))
            happened += more
        at_s += pause_s
        watch, more = see(watch, rule, seen, float(at_s))
        happened += more
    return happened + settle(watch, rule, float(at_s + END_S))[1]


def oracle(rule: AlarmRule, moments: Moments) -> list[Happened]:
    """Returns the same by looking back from each second at all the seconds before."""
    seconds: list[list[Seen]] = [[]]
    for pause_s, seen in moments:
        seconds += [[] for _ in range(pause_s)]
        seconds[-1].append(Seen.COOL if seen is Seen.GONE and rule.silent_s is None else seen)
    seconds += [[] for _ in range(END_S)]
    past: list[tuple[int, Seen]] = []
    raised = silent = False
    happened: list[Happened] = []

    def held(what: Seen, at_s: int, long_s: float) -> bool:
        since = None
        for second, seen in reversed(past):
            if seen is not what:
                break
            since = second
        return since is not None and at_s - since >= long_s

    def look(at_s: int) -> None:
        nonlocal raised, silent
        if not raised and held(Seen.HOT, at_s, rule.raise_s):
            raised = True
            happened.append((AlarmStep.RAISED, float(at_s)))
        if raised and held(Seen.COOL, at_s, rule.clear_s):
            raised = False
            happened.append((AlarmStep.CLEARED, float(at_s)))
        if rule.silent_s is not None and not silent and held(Seen.GONE, at_s, rule.silent_s):
            silent = True
            happened.append((AlarmStep.SILENT, float(at_s)))

    for at_s, now in enumerate(seconds):
        look(at_s)
        for seen in now:
            if silent and seen is not Seen.GONE:
                silent = False
                happened.append((AlarmStep.HEARD, float(at_s)))
            past.append((at_s, seen))
            look(at_s)
    return happened


@given(RULES, MOMENTS)
def test_oracle_what_happens_is_what_a_look_at_every_second_says(rule, moments):
    assert told(rule, moments) == oracle(rule, moments)


@given(RULES, MOMENTS)
def test_looking_more_often_changes_nothing(rule, moments):
    assert told(rule, moments, looks=True) == told(rule, moments)


@given(RULES, MOMENTS, st.sampled_from(Seen))
def test_seeing_the_same_again_changes_nothing(rule, moments, seen):
    watch = Watch()
    for at_s, (_, one) in enumerate(moments):
        watch, _ = see(watch, rule, one, float(at_s))
    at_s = float(len(moments))
    once, _ = see(watch, rule, seen, at_s)
    assert see(once, rule, seen, at_s) == (once, [])


def test_a_reading_that_stays_hot_happens_once():
    moments = [(0, Seen.HOT), *[(1, Seen.HOT)] * 20]
    assert told(replace(RULE, raise_s=3.0), moments) == [(AlarmStep.RAISED, 3.0)]


def test_flapping_is_neither_raised_nor_cleared():
    hot = [(0, Seen.HOT), (29, Seen.BETWEEN)] * 10
    assert told(RULE, hot) == []
    raised = [(0, Seen.HOT), (30, Seen.BETWEEN), *[(10, Seen.COOL), (50, Seen.BETWEEN)] * 10]
    assert told(RULE, raised) == [(AlarmStep.RAISED, 30.0)]


def test_silence_is_an_alarm_of_its_own_and_clears_nothing():
    moments = [(0, Seen.HOT), (40, Seen.GONE), (400, Seen.HOT)]
    assert told(RULE, moments) == [
        (AlarmStep.RAISED, 30.0),
        (AlarmStep.SILENT, 340.0),
        (AlarmStep.HEARD, 440.0),
    ]


def test_what_is_pending_is_due_when_it_has_held():
    watch, _ = see(Watch(), RULE, Seen.HOT, 10.0)
    assert due_s(watch, RULE) == 40.0
    watch, _ = settle(watch, RULE, 40.0)
    assert (watch.raised, due_s(watch, RULE)) == (True, None)
