"""Building: the simulated people and things, and the radio network through which they are noticed.

    kernel ──measures──► mote ──radio──► base station ──► reading
           ──measures──► soft sensor ────────────────────► reading

Law: a reading is what a device measured, when it measured it by its own clock, if it arrived.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aspen.model.schema import Relation, Row
from federation.sites import SOFT
from sensors_sim.innet.compile import Fragment
from sensors_sim.innet.gateway import QueryHandle
from sensors_sim.kernel import Kernel
from sensors_sim.motes import Field, MoteSpec
from sensors_sim.network.links import Radio
from sensors_sim.sensor_network import SensorNetwork
from sensors_sim.world import Reading, SensorSpec, World
from smartcis.placements.device_streams import DEVICE_STREAMS, whole_stream

POWER_DBM = -10  # the building is dense: more hops, longer batteries
STATUS_S = 120.0


class SimulatedBuilding:
    """Kernel and network on one clock.

    Args:
        described: people and things.
        field: the radio network.
        seed: decides everything left to chance.
        acquire: streams somebody wants; None for all.

    `raw` has what runs for each of those streams.
    """

    def __init__(
        self, described: World, field: Field, seed: int, acquire: frozenset[str] | None
    ) -> None:
        self.kernel = Kernel(described, seed, acquire)
        self.network = SensorNetwork(
            field, self.kernel, seed, Radio(power_dbm=POWER_DBM), status_s=STATUS_S
        )
        self._kinds = {sensor.sid: sensor.kind for sensor in described.sensors}
        self.raw: dict[str, QueryHandle] = {}
        self._told_s: dict[str, float] = {}
        self.acquire(acquire)

    @property
    def now_s(self) -> float:
        """Simulated seconds since the beginning."""
        return self.kernel.now_s

    def acquire(self, streams: frozenset[str] | None) -> None:
        """Sets the streams that the motes send; None for all."""
        self.kernel.acquire = streams
        for name in DEVICE_STREAMS:
            wanted = streams is None or name in streams
            if wanted and name not in self.raw:
                fragment = Fragment(whole_stream(DEVICE_STREAMS[name].relation))
                self.raw[name] = self.network.deploy(fragment)
            elif not wanted and name in self.raw:
                self.network.remove(self.raw.pop(name))

    def put_sensor(self, spec: SensorSpec, mote: MoteSpec | None) -> None:
        """Installs or change a sensor.

        Args:
            mote: its node in the radio network; None for a soft sensor.
        """
        self.kernel.put_sensor(spec)
        self._kinds[spec.sid] = spec.kind
        if mote is not None:
            self.network.put_mote(mote)

    def drop_sensor(self, sid: str) -> None:
        """Takes a sensor away, and its mote with it."""
        self.kernel.drop_sensor(sid)
        if self._kinds.pop(sid, "") not in SOFT:
            self.network.fail(sid)

    def tick(self, seconds: float) -> list[Reading]:
        """Moves time on and gives the readings that arrived meanwhile, in order of measurement."""
        arrived: list[Reading] = []
        for reading in self.kernel.tick(seconds):
            kind = self._kinds[reading.sid]
            if kind in SOFT:
                arrived.append(reading)
            else:
                measured: Row = (reading.tag, reading.value) if reading.tag else (reading.value,)
                self.network.report(reading.sid, measured, reading.at_s)
        self.network.run_until(self.kernel.now_s)
        for name, handle in self.raw.items():
            rows = [row for answer in handle.take() for row in answer.rows]
            arrived += as_readings(rows, DEVICE_STREAMS[name].relation)
        return sorted(arrived, key=lambda one: (one.at_s, one.sid))

    def statuses(self) -> list[Row]:
        """The motes' reports since the last call: rows of `mote_status`, times simulated."""
        found: list[Row] = []
        for sid, one in self.network.statuses.items():
            if self._told_s.get(sid) != one.at_s:
                self._told_s[sid] = one.at_s
                energy_mj, at_s = round(one.energy_mj, 1), round(one.at_s, 3)
                found.append((sid, one.parent, energy_mj, one.hops, one.link_quality, at_s))
        return found


def as_readings(rows: Sequence[Row], relation: Relation) -> list[Reading]:
    """Returns rows of a device stream as readings."""
    stream = DEVICE_STREAMS[relation.name]
    measured = stream.measured[-1]
    unit = relation.columns[relation.index(measured)].unit
    found = []
    for row in rows:
        one: dict[str, Any] = dict(zip(relation.names, row, strict=True))
        tag = one.get("tag", "")
        found.append(Reading(one["sid"], one[measured], unit, one[stream.time], tag))
    return found
