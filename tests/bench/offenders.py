"""Does anybody notice? Fifty people work while one after the other somebody asks for too much.

    people     ──read──read──read──…  each a socket with the map's views and a query of his own
    offender      │ quiet │ cross join │ quiet │ cross join │ quiet │ … growing recursion │ …
    compared      └── p95 of all quiet and of all loud seconds, side by side ──┘

Everybody comes from an address of his own, the offender too. Who reads, who listens, who offends
and who watches memory are a process each, the same in quiet and in loud seconds; readers and
listeners go before everybody else at the processor, as if their computers were elsewhere. `late`
says how much later than they wished they came to it nevertheless.

Quiet and loud seconds take turns, since the same load has another p95 each minute: `noise` is how
far the p95 of every other quiet slice is from that of the rest. A ratio that is nearer to 1 than
the noise says nothing.

Memory is that of all processes of the product together, what they share counted once.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any

import psutil

from tests.bench.apart import AHEAD, Apart
from tests.bench.offences import OFFENCES, Offender
from tests.bench.people import MAP, Listeners, Met, Readers
from tests.bench.report import Target, percentile, report, spread
from tests.bench.rig import Rig, RigFailed, running

PEOPLE, QUICK_PEOPLE = 50, 10
SLICE_S, QUICK_SLICE_S = 10.0, 4.0
ROUNDS, QUICK_ROUNDS = 3, 1
REST_S = 2.0
LOOK_S = 1.0
MOST_RATIO, MOST_GROWTH_MB = 1.25, 300.0
SETTLE_S = 120


@dataclass(frozen=True, slots=True)
class Slice:
    """What people met with in some seconds: who read, and who listened."""

    read: Met
    heard: Met


class Crowd:
    """People at work.

    Args:
        listeners: where they listen.
        readers: where they read.
    """

    def __init__(self, listeners: Apart, readers: Apart) -> None:
        self._listeners, self._readers = listeners, readers

    async def settled(self, people: int) -> None:
        """Lets people come, and waits until changes reach them.

        Raises:
            RigFailed: they do not.
        """
        sessions = await self._listeners.call("come", people)
        await self._readers.call("begin", sessions)
        heard, failed = 0, Counter[str]()
        for _ in range(SETTLE_S):
            met = await self.slice(1.0)
            heard += len(met.heard.waits_ms)
            failed += met.read.failed + met.heard.failed
            if heard > people * len(MAP) and met.read.waits_ms:
                return
        raise RigFailed(f"no changes reached {people} people in {SETTLE_S} s: {dict(failed)}")

    async def slice(self, slice_s: float) -> Slice:
        """Returns what they meet with from now on."""
        await self._met()
        await asyncio.sleep(slice_s)
        return await self._met()

    async def _met(self) -> Slice:
        return Slice(*[await one.call("met") for one in (self._readers, self._listeners)])


class Memory:
    """How much a product's processes hold.

    Args:
        pid: of its supervisor.
    """

    def __init__(self, pid: int) -> None:
        self._root = psutil.Process(pid)
        self._before = self._most = self._held()
        self._task = asyncio.create_task(self._look())

    async def begin(self) -> None:
        """Begins to note the most there is from now on."""
        self._before = self._most = self._held()

    async def growth_mb(self) -> float:
        """Returns the most there was above what was there at first, MB."""
        self._most = max(self._most, self._held())
        return (self._most - self._before) / 1e6

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(LOOK_S)
            self._most = max(self._most, self._held())

    def _held(self) -> int:
        held = 0
        for process in (self._root, *self._root.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):  # it ended meanwhile
                held += process.memory_full_info().pss
        return held


def run(*, quick: bool, say: Callable[[str], Any], figure: str | None = None) -> dict[str, Any]:
    """Lets one offender after the other try, and gives the bench's JSON object.

    Args:
        figure: only this offence.
    """
    wanted = [name for name in OFFENCES if figure in (None, name)]
    with running() as rig:
        figures = asyncio.run(_measure(rig, wanted, quick=quick, say=say))
    targets = [
        target
        for name, found in figures["offences"].items()
        for target in (
            Target(f"{name}: reads' p95, with to without", found["read_ratio"], MOST_RATIO, ""),
            Target(f"{name}: changes' p95, with to without", found["heard_ratio"], MOST_RATIO, ""),
            Target(f"{name}: memory", found["growth_mb"], MOST_GROWTH_MB, "MB"),
            Target(f"{name}: words for the offender", len(found["told"]), 1, "", at_most=False),
        )
    ]
    return report("offenders", figures, targets)


async def _measure(
    rig: Rig, wanted: Sequence[str], *, quick: bool, say: Callable[[str], Any]
) -> dict[str, Any]:
    people, slice_s, rounds = PEOPLE, SLICE_S, ROUNDS
    if quick:
        people, slice_s, rounds = QUICK_PEOPLE, QUICK_SLICE_S, QUICK_ROUNDS
    found: dict[str, Any] = {}
    async with (
        Apart(Listeners, rig.url, nice=AHEAD) as listeners,
        Apart(Readers, rig.url, nice=AHEAD) as readers,
        Apart(Memory, rig.process.pid) as memory,
    ):
        crowd = Crowd(listeners, readers)
        await crowd.settled(people)
        for name in wanted:
            await memory.call("begin")
            quiet, loud = [await crowd.slice(slice_s)], []
            async with Apart(Offender, rig.url, name) as offender:
                for _ in range(rounds):
                    await offender.call("begin")
                    loud.append(await crowd.slice(slice_s))
                    await offender.call("rest")
                    await asyncio.sleep(REST_S)  # what still runs ends
                    quiet.append(await crowd.slice(slice_s))
                attempts, told = await offender.call("said")
            found[name] = compared(quiet, loud) | {
                "growth_mb": round(await memory.call("growth_mb"), 1),
                "attempts": attempts,
                "told": told,
            }
            say(f"{name}: {json.dumps(found[name], ensure_ascii=False)}")
    return {"people": people, "slice_s": slice_s, "rounds": rounds, "offences": found}


def compared(quiet: Sequence[Slice], loud: Sequence[Slice]) -> dict[str, Any]:
    """Returns how much longer people waited in loud slices than in quiet ones.

    Where nothing came at all, there is nothing to compare, and the target is missed.
    """
    failed = sum((one.read.failed + one.heard.failed for one in loud), Counter[str]())
    found: dict[str, Any] = {"failed": dict(failed)}
    for name in ("read", "heard"):
        without, with_it = (_waits_ms(slices, name) for slices in (quiet, loud))
        found[f"{name}_ms"] = {
            how: spread(waits_ms) if waits_ms else None
            for how, waits_ms in (("without", without), ("with", with_it))
        }
        found[f"{name}_ratio"] = _ratio(without, with_it)
        found[f"{name}_noise"] = _ratio(_waits_ms(quiet[::2], name), _waits_ms(quiet[1::2], name))
        late_ms = [ms for one in (*quiet, *loud) for ms in getattr(one, name).late_ms]
        found[f"{name}_late_ms"] = spread(late_ms) if late_ms else None
    return found


def _waits_ms(slices: Sequence[Slice], name: str) -> list[float]:
    return list(chain.from_iterable(getattr(one, name).waits_ms for one in slices))


def _ratio(without_ms: Sequence[float], with_ms: Sequence[float]) -> float | None:
    if not without_ms or not with_ms:
        return None
    return round(percentile(with_ms, 0.95) / percentile(without_ms, 0.95), 2)
