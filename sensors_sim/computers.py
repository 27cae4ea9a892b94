"""Computers: what a simulated computer works on, so that load, people and tasks tell one story.

Whoever sits at a machine uses a few programs for the whole spell; with nobody there the system
ticks over, or a job computes on. Each computer draws from its own stream of chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from sensors_sim.occupancy import COMPUTES_FROM_PCT, Workplace

FOR_PEOPLE = (  # name, MB of memory [own]
    ("firefox", 620.0),
    ("soffice.bin", 310.0),
    ("pdflatex", 90.0),
    ("matlab", 1_450.0),
    ("python3", 240.0),
    ("Rsession", 380.0),
    ("blender", 900.0),
    ("gimp", 410.0),
)
ALONE = (("python3", 1_900.0), ("gnome-shell", 260.0), ("systemd", 14.0))
IDLE = (("gnome-shell", 260.0), ("packagekitd", 70.0), ("systemd", 14.0))
SHARES = (0.55, 0.25, 0.1)  # of the load, by place; the rest is spread over many small ones
SYSTEM_MEMORY_PCT, MEMORY_MB = 14.0, 16_000.0
FIRST_PID, LAST_PID = 1_200, 32_000


@dataclass(frozen=True, slots=True)
class Task:
    """One program at work.

    Args:
        cpu_pct: share of all that the computer can do.
    """

    pid: int
    name: str
    cpu_pct: float
    memory_mb: float


@dataclass(frozen=True, slots=True)
class ComputerState:
    """A computer seen from inside.

    Args:
        users: people logged in.
        jobs: processes at work.
        tasks: the busiest, the busiest first.
    """

    cpu_pct: float
    memory_pct: float
    users: int
    jobs: int
    tasks: tuple[Task, ...]


def computer_state(workplace: Workplace, rng: Random) -> ComputerState:
    """Look inside a machine.

    Args:
        rng: of this computer's measurements; which programs run is drawn once a spell.
    """
    spell = Random(f"{workplace.mid}/{workplace.until_s}")
    if workplace.taken:
        programs = spell.sample(FOR_PEOPLE, len(SHARES))
    else:
        programs = list(ALONE if workplace.busy_pct > COMPUTES_FROM_PCT else IDLE)
    load_pct = round(min(100.0, workplace.cpu_pct(rng)), 1)
    tasks = tuple(
        Task(spell.randrange(FIRST_PID, LAST_PID), name, round(share * load_pct, 1), memory_mb)
        for (name, memory_mb), share in zip(programs, SHARES, strict=True)
    )
    memory_pct = SYSTEM_MEMORY_PCT + 100.0 * sum(one.memory_mb for one in tasks) / MEMORY_MB
    at_work = sum(one.cpu_pct >= 1.0 for one in tasks)
    return ComputerState(load_pct, round(memory_pct, 1), int(workplace.taken), at_work, tasks)
