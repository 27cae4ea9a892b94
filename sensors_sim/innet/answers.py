"""Answers: what the base makes of one epoch, and how much of the network stands behind it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from aspen.model.schema import Row
from sensors_sim.innet.compile import columns_of
from sensors_sim.innet.expressions import compile_predicate
from sensors_sim.innet.joins import Group
from sensors_sim.innet.partial import Partials
from sensors_sim.innet.running import Running
from sensors_sim.motes import DeviceStream


@dataclass(frozen=True, slots=True)
class NetworkAnswer:
    """The rows of one epoch, or one row that was reported at once.

    Args:
        epoch: counted in periods since the network began; −1 for a report.
        at_s: when the epoch began, or when the report reached the base.
        rows: of the fragment's plan.
        motes: how many motes' rows are in it. It counts motes whose rows passed and arrived.
        expected: motes that carry a sensor the fragment reads.
    """

    query: int
    version: int
    epoch: int
    at_s: float
    rows: tuple[Row, ...]
    motes: int
    expected: int


@dataclass
class Collected:
    """What has reached the base for one epoch.

    Args:
        records: merged partial state records.
        rows: of an answer, with the sensors they come from.
        sides: rows of a join's inputs, by (input, sensor).
        strays: sides that never found the mote they were meant for.
    """

    records: Partials = field(default_factory=Partials)
    rows: list[tuple[Group, Row]] = field(default_factory=list)
    sides: dict[tuple[int, int], list[Row]] = field(default_factory=dict)
    strays: set[tuple[int, int]] = field(default_factory=set)


class BaseJoin:
    """Joins at the base what the motes did not join."""

    def __init__(self, run: Running, streams: Mapping[str, DeviceStream]) -> None:
        columns = columns_of(run.program, streams)
        program = run.program
        self._run = run
        self._tests = [
            compile_predicate(one, columns) for one in (program.paired, program.joined) if one
        ]
        self._offsets = [0]
        for one in program.inputs:
            width = len(streams[one.stream].relation.columns)
            self._offsets.append(self._offsets[-1] + width)

    def join(self, collected: Collected, groups: set[Group] | None) -> list[tuple[Group, Row]]:
        """Returns the results among the rows that reached the base.

        Args:
            groups: those that belong to the base; None for all.
        """
        partial: list[tuple[Group, Row]] = [((), ())]
        for number in range(len(self._run.program.inputs)):
            mine = [
                (sensor, row)
                for (n, sensor), rows in sorted(collected.sides.items())
                if n == number
                for row in rows
            ]
            partial = self._grown(partial, mine, number)
        found = []
        for group, row in partial:
            if groups is not None and group not in groups:
                members = set(enumerate(group))
                if not members & collected.strays:
                    continue
            if all(test(row) for test in self._tests):
                found.append((group, self._run.outputs(row)))
        return found

    def _grown(
        self, partial: list[tuple[Group, Row]], mine: list[tuple[int, Row]], number: int
    ) -> list[tuple[Group, Row]]:
        link = next((p for p in self._run.program.equal if max(p[0], p[2]) == number), None)
        if link is None:
            return [((*g, s), (*r, *row)) for g, r in partial for s, row in mine]
        (there, its), (_, here) = sorted(((link[0], link[1]), (link[2], link[3])))
        index: dict[object, list[tuple[int, Row]]] = {}
        for sensor, row in mine:
            index.setdefault(row[here], []).append((sensor, row))
        offset = self._offsets[there] + its
        return [((*g, s), (*r, *row)) for g, r in partial for s, row in index.get(r[offset], ())]


def unique(rows: Iterable[tuple[Group, Row]]) -> list[tuple[Group, Row]]:
    """Returns results once each: a lost acknowledgement may have brought one twice."""
    return list(dict.fromkeys(rows))
