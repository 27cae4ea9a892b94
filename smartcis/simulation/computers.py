"""Computers: simulated machines seen from inside, as rows of `host_load` and `host_process`.

Told while a view that somebody looks at reads them, and not otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping

from aspen.log.entry import Change
from sensors_sim.computers import ComputerState
from smartcis.models import Machine

EVERY_S = 15.0


def hosts() -> dict[str, str]:
    """Returns the names of the simulated computers, by machine."""
    return dict(Machine.objects.filter(simulated=True).values_list("mid", "host"))


def inside_rows(
    states: Mapping[str, ComputerState], names: Mapping[str, str], at_s: float
) -> list[Change]:
    """Returns what simulated computers say of themselves.

    Args:
        states: by machine.
        names: of the computers, by machine; one without is not simulated and speaks for itself.
    """
    changes = []
    for mid, state in states.items():
        if (host := names.get(mid)) is None:
            continue
        load = (host, state.cpu_pct, state.memory_pct, state.users, state.jobs, None, at_s)
        changes.append(Change("host_load", 1, load))
        for place, one in enumerate(state.tasks, start=1):
            row = (host, place, one.pid, one.name, one.cpu_pct, one.memory_mb, at_s)
            changes.append(Change("host_process", 1, row))
    return changes
