"""Stopped processes: somebody sent SIGSTOP and nobody wakes them; they live and answer nobody."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field

import psutil

STOPPED_S = 1.0


@dataclass(slots=True)
class Stopped:
    """Ends those among our processes; one that a debugger holds is in another state."""

    _since: dict[psutil.Process, float] = field(default_factory=dict)

    def end(self, roots: Iterable[int]) -> list[str]:
        """Kills whoever has been stopped for 1 s, of these processes and all they started.

        Returns:
            What happened, one line each.
        """
        now, stopped, said = time.monotonic(), dict[psutil.Process, float](), []
        for process in _families(roots):
            with suppress(psutil.Error):
                if process.status() != psutil.STATUS_STOPPED:
                    continue
                stopped[process] = self._since.get(process, now)
                if now - stopped[process] >= STOPPED_S:
                    said.append(f"{process.name()} ({process.pid}) stood still, killed")
                    process.kill()
        self._since = stopped
        return said


def _families(roots: Iterable[int]) -> set[psutil.Process]:
    found = {}
    for pid in roots:
        with suppress(psutil.Error):
            found[pid] = psutil.Process(pid)
    ours = psutil.Process()
    family = set(ours.children(recursive=True))
    for one in found.values():
        if one not in family:  # it was started by somebody who is gone
            with suppress(psutil.Error):
                family |= {one, *one.children(recursive=True)}
    return family
