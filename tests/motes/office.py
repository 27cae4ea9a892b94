"""Who met whom in a real office, and where the motes of the Intel lab stood."""

from __future__ import annotations

import gzip
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

from sensors_sim.radio import signal_dbm

BESIDE_M = 2.0  # people in contact stand within arm's reach of the same receiver
_DATA = Path(__file__).parent / "data"


@cache
def intel_lab() -> tuple[tuple[int, float, float], ...]:
    """Returns number, x and y in metres of the motes of the Intel lab."""
    rows = (_DATA / "intel_lab_motes.txt").read_text(encoding="utf-8").split("\n")
    return tuple(
        (int(number), float(x_m), float(y_m))
        for number, x_m, y_m in (row.split() for row in rows if row.strip())
    )


@dataclass(frozen=True, slots=True)
class Contact:
    """Two people were near each other for 20 seconds up to `at_s`."""

    at_s: float
    one: int
    other: int


@cache
def contacts() -> tuple[Contact, ...]:
    """Returns the recorded contacts in order of time; the first recorded second is 0."""
    with (_DATA / "sociopatterns_contacts.dat.gz").open("rb") as packed:
        lines = gzip.decompress(packed.read()).decode().split("\n")
    rows = [tuple(map(int, line.split())) for line in lines if line.strip()]
    first_s = min(at_s for at_s, _, _ in rows)
    return tuple(Contact(float(at_s - first_s), one, other) for at_s, one, other in sorted(rows))


@cache
def departments() -> dict[int, str]:
    """Returns everybody's department."""
    rows = (_DATA / "sociopatterns_departments.txt").read_text(encoding="utf-8").split("\n")
    return {int(row.split()[0]): row.split()[1] for row in rows if row.strip()}


@dataclass(frozen=True, slots=True)
class Heard:
    """A receiver heard a tag."""

    at_s: float
    tag: str
    sid: str
    rssi_dbm: float


def recorded_visitors(receivers: Sequence[str], seed: int, until_s: float) -> Iterator[Heard]:
    """Replay the contacts as tags heard by receivers.

    Where people met was not recorded, only that they did: a department stays around one receiver,
    and a meeting happens at the receiver of the person with the lower number.

    Args:
        receivers: ids, in an order that stays.
        until_s: of the recording.
    """
    team = departments()
    names = sorted(set(team.values()))
    homes = {name: receivers[index % len(receivers)] for index, name in enumerate(names)}
    rng = Random(f"{seed}/recorded")
    for contact in contacts():
        if contact.at_s >= until_s:
            return
        sid = homes[team[min(contact.one, contact.other)]]
        for person in (contact.one, contact.other):
            away_m = BESIDE_M * math.sqrt(rng.random())
            yield Heard(contact.at_s, f"badge-{person}", sid, round(signal_dbm(away_m, rng), 1))
