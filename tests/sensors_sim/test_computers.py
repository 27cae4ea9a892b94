"""A simulated computer's load, people and tasks tell one story with its seat."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from sensors_sim.computers import computer_state
from sensors_sim.kernel import HELLO_S, Kernel
from sensors_sim.occupancy import workplace_of
from sensors_sim.world import SensorSpec, World


@given(st.integers(0, 300), st.integers(0, 20))
def test_law_who_sits_there_is_logged_in_and_tasks_add_up_to_less_than_the_load(seed, turns):
    workplace = workplace_of(f"m{seed}", seed)
    for turn in range(turns):
        workplace.turn(float(turn))
    state = computer_state(workplace, Random(seed))
    assert state.users == int(workplace.taken)
    assert [one.cpu_pct for one in state.tasks] == sorted(
        (one.cpu_pct for one in state.tasks), reverse=True
    )
    assert sum(one.cpu_pct for one in state.tasks) <= state.cpu_pct + 0.2
    assert 0.0 <= state.cpu_pct <= 100.0
    assert state.memory_pct < 100.0


def test_the_programs_of_a_spell_stay():
    workplace = workplace_of("m1", 7)
    names = {
        tuple((one.pid, one.name) for one in computer_state(workplace, Random(seed)).tasks)
        for seed in range(5)
    }
    assert len(names) == 1


def test_whoever_begins_to_look_soon_hears_a_first_word():
    def meter(period_s: float) -> SensorSpec:
        return SensorSpec("m1.energy", "energy", 1, "L0", 0.0, 0.0, "people", {}, period_s, "m1")

    kernel = Kernel(World((meter(90.0),)), 1, frozenset())
    assert kernel.tick(50.0) == []
    kernel.acquire = frozenset({"energy_reading"})
    (reading,) = kernel.tick(HELLO_S)
    assert reading.unit == "W"
    assert kernel.tick(80.0) == []  # then at its own pace
