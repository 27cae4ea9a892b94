"""The soak's judgement: teeth and spikes are flat, a leak under them is not."""

from __future__ import annotations

import pytest

from tests.bench.soak import flatness

AT_S = [30.0 * n for n in range(120)]  # an hour
TEETH = [100 + 20 * ((s % 1_800) / 1_800) for s in AT_S]


def test_saw_teeth_of_half_the_time_are_flat():
    found = flatness("redis memory MB", AT_S, TEETH)
    assert found.growth == pytest.approx(0, abs=0.1)
    assert found.first == found.last


def test_a_spike_is_flat():
    found = flatness("web: memory MB", AT_S, [300.0 if n == 100 else 100.0 for n in range(120)])
    assert found.growth == 0
    assert found.last == 300


def test_a_leak_beneath_teeth_shows():
    leak_per_h = 6.0
    levels = [level + leak_per_h * s / 3_600 for s, level in zip(AT_S, TEETH, strict=True)]
    found = flatness("redis memory MB", AT_S, levels)
    assert found.slope_per_h == pytest.approx(leak_per_h, rel=0.05)
    assert found.growth > found.most


def test_what_shrinks_does_not_grow():
    assert flatness("web: threads", AT_S, [200 - s / 60 for s in AT_S]).growth == 0


def test_a_few_descriptors_an_hour_are_a_leak():
    levels = [40 + s // 600 for s in AT_S]
    found = flatness("web: descriptors", AT_S, levels)
    assert found.growth > found.most
