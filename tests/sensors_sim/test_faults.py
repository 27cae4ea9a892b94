"""A fault changes what a sensor says from the moment it is set, and no other sensor."""

from __future__ import annotations

import statistics
from dataclasses import replace

import pytest

from sensors_sim.kernel import Kernel
from sensors_sim.world import SensorSpec, World

SINE = {"middle": 20.0, "amplitude": 2.0, "cycle_s": 60.0, "phase_s": 0.0, "noise": 0.0}
TRUE = SensorSpec("s", "temperature", 1, "L0", 0, 0, "sine", SINE, 1.0)
OTHER = replace(TRUE, sid="other")


def told(fault: str, amount: float) -> tuple[list[float], list[float], list[float]]:
    """Returns the true values since the fault, what is said instead, and what `other` says."""
    kernels = [Kernel(World(sensors=(TRUE, OTHER)), 7) for _ in range(2)]
    for kernel in kernels:
        kernel.tick(100)
    kernels[1].put_sensor(replace(TRUE, fault=fault, fault_amount=amount))
    kernels[0].put_sensor(TRUE)
    both = [kernel.tick(600) for kernel in kernels]
    assert [one for one in both[0] if one.sid == "other"] == [
        one for one in both[1] if one.sid == "other"
    ]
    true, said = ([one.value for one in part if one.sid == "s"] for part in both)
    return true, said, [one.value for one in both[1] if one.sid == "other"]


def test_stuck_repeats_its_first_value():
    true, said, other = told("stuck", 0.0)
    assert set(said) == {true[0]}
    assert len(set(other)) > 20


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_dropout_loses_its_share(share):
    true, said, _ = told("dropout", share)
    assert len(said) == pytest.approx(len(true) * (1 - share), abs=60)
    assert set(said) <= set(true)
    assert share < 1 or said == []


def test_drift_moves_away_with_time():
    true, said, _ = told("drift", 12.0)
    away = [b - a for a, b in zip(true, said, strict=True)]
    assert away[0] == pytest.approx(0.0, abs=0.1)
    assert away[-1] == pytest.approx(2.0, abs=0.1)  # ten minutes of twelve degrees an hour


def test_offset_is_always_as_far_off_and_noise_is_not():
    true, said, _ = told("offset", -3.0)
    assert all(b - a == pytest.approx(-3.0, abs=0.11) for a, b in zip(true, said, strict=True))
    true, said, _ = told("noise", 1.5)
    away = [b - a for a, b in zip(true, said, strict=True)]
    assert statistics.pstdev(away) == pytest.approx(1.5, rel=0.15)


def test_a_fault_that_is_taken_back_leaves_no_trace():
    kernel = Kernel(World(sensors=(replace(TRUE, fault="stuck"),)), 7)
    kernel.tick(100)
    kernel.put_sensor(TRUE)
    assert len({one.value for one in kernel.tick(100)}) > 10
