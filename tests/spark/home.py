"""A process for tests in which lanes live; it ends with its standard input."""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

from aspen.runtime.assignment import LaneShare
from aspen.runtime.lane import Lane
from aspen.spark.residents import RESIDENT, LaneAddress, Resident
from aspen.spark.residents_home import listen


class Stuck:
    """A lane that says when it began to apply something, and never ends."""

    shared: frozenset[str] = frozenset()
    borders = SimpleNamespace(supersteps=0, known=(), quiescent=True)

    def __init__(self, data):
        self.data = data
        self.position = 0

    @classmethod
    def restore(cls, data, _share):
        return cls(data)

    def end(self):
        """Has nothing to end."""

    def apply(self, _entries, **_options):
        Path(self.data.decode()).touch()
        threading.Event().wait()


class Failing(Stuck):
    """A lane that cannot apply anything."""

    def apply(self, _entries, **_options):
        raise ValueError(self.data)


if __name__ == "__main__":
    kinds = {kind.__name__: kind for kind in (Lane, Stuck, Failing)}
    folder, kind, position, snapshot, *places = json.loads(sys.argv[1])
    for place in (LaneAddress(*values) for values in places):
        share = LaneShare(place.lane, place.lanes)
        lane = kinds[kind].restore(Path(snapshot).read_bytes(), share)
        lane.position = position
        RESIDENT[place] = Resident(lane)
        listen(folder, place)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.read()
