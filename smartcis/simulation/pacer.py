"""Pacer: simulated seconds pass as real ones do, and what was measured goes to the log.

Law: a reading is appended once: a batch that fails keeps its idempotency key until it succeeds.
While the log cannot be reached readings wait, up to a bound, the oldest given up first, as a real
gateway's memory would.
"""

from __future__ import annotations

import math
import time
import uuid
from collections.abc import Callable, Sequence
from typing import Any

import structlog
from redis.exceptions import RedisError

from aspen.errors import AspenError
from aspen.log.entry import Change
from aspen.model.schema import Row
from sensors_sim.errors import BadParameters, UnknownWaveform
from sensors_sim.motes import Field
from sensors_sim.world import Reading, World
from smartcis.placements.device_streams import DEVICE_STREAMS
from smartcis.placements.runner import PieceRunner
from smartcis.simulation.building import SimulatedBuilding
from smartcis.simulation.computers import EVERY_S, hosts, inside_rows
from smartcis.simulation.deployment import FROM_INSIDE, STATUS
from smartcis.simulation.motes import field, mote_specs
from smartcis.simulation.world import Version, locked_doors, sensor_specs, version, visitor_specs

BEAT_S = 0.25  # a few batches per second
POLL_S = 0.7  # an edit is noticed within a second
GREATEST_LAG_S = 5.0  # after a longer pause (a suspended laptop) time jumps instead of flooding
WAITING_AT_MOST = 4_000

logger = structlog.get_logger(__name__)

Append = Callable[[Sequence[dict[str, Any]], str], None]
Tell = Callable[[Sequence[Row], str], None]
TellChanges = Callable[[Sequence[Change], str], None]
Acquire = Callable[[], frozenset[str] | None]


def all_streams() -> None:
    """Wants every stream, whether or not a query reads it."""


class Pacer:
    """Drives a simulated building in real time.

    Args:
        described: people and things at the start.
        seed: decides everything left to chance.
        append: gives readings and an idempotency key to the log.
        clock: wall time in seconds since the epoch.
        acquire: gives the streams somebody wants, or None for all; asked when the tables change.
        tell: gives rows of `mote_status` and an idempotency key to the log, while somebody wants
            them; None for nobody.
        radio: the motes at the start; by default those the tables describe.
        tell_inside: gives rows of `host_load` and `host_process` and an idempotency key to the
            log, while somebody wants them; None for nobody.
    """

    def __init__(
        self,
        described: World,
        seed: int,
        append: Append,
        acquire: Acquire = all_streams,
        clock: Callable[[], float] = time.time,
        tell: Tell | None = None,
        radio: Field | None = None,
        tell_inside: TellChanges | None = None,
    ) -> None:
        self._clock = clock
        sensors = {sensor.sid: sensor for sensor in described.sensors}
        wanted = acquire()
        self.building = SimulatedBuilding(described, radio or field(sensors), seed, wanted)
        self._tell = tell
        self.runner = PieceRunner(self.building.network, DEVICE_STREAMS, self.building.raw)
        self.runner.acquired(wanted)
        self._tell_inside = tell_inside
        self._inside_due_s = math.inf
        self._want(wanted)
        self.sent = 0
        self._append = append
        self._acquire = acquire
        self._began_s = clock()
        self._waiting: list[dict[str, Any]] = []
        self._batch: tuple[str, list[dict[str, Any]]] | None = None
        self._seen: Version | None = None
        self._polled_s = float("-inf")
        self._specs = sensors
        self._visitors = {visitor.tag: visitor for visitor in described.visitors}

    def beat(self) -> int:
        """Advances to the present; returns how many readings reached the log."""
        now_s = self._clock()
        if now_s - self._polled_s >= POLL_S:
            self._polled_s = now_s
            self._follow_edits()
        due_s = now_s - self._began_s
        if due_s - self.building.now_s > GREATEST_LAG_S:
            jump_s = due_s - self.building.now_s
            logger.warning("time jumps", seconds=round(jump_s, 1))
            self._began_s += jump_s
            due_s = self.building.now_s
        if due_s > self.building.now_s:
            self._waiting += map(self._as_sent, self.building.tick(due_s - self.building.now_s))
        if len(self._waiting) > WAITING_AT_MOST:
            lost = len(self._waiting) - WAITING_AT_MOST
            logger.warning("readings given up", readings=lost)
            del self._waiting[:lost]
        if self._telling and self._tell is not None:
            self._tell_statuses(self._tell)
        if self._tell_inside is not None and now_s >= self._inside_due_s:
            self._inside_due_s = now_s + EVERY_S
            self._look_inside(self._tell_inside, now_s)
        sent = self._send()
        self.runner.turn()
        return sent

    def _want(self, wanted: frozenset[str] | None) -> None:
        """Notes what is wanted besides readings; who begins to look need not wait."""
        self._telling = wanted is None or STATUS in wanted
        looked_at = wanted is not None and not FROM_INSIDE.isdisjoint(wanted)
        self._inside_due_s = min(self._inside_due_s, self._clock()) if looked_at else math.inf

    def _look_inside(self, tell: TellChanges, now_s: float) -> None:
        """Appends what computers say of themselves; what cannot be sent now is said anew soon."""
        changes = inside_rows(self.building.kernel.computers(), hosts(), round(now_s, 3))
        try:
            if changes:
                tell(changes, uuid.uuid4().hex)
        except (RedisError, OSError) as fault:
            logger.warning("computers not heard", reason=str(fault))

    def _tell_statuses(self, tell: Tell) -> None:
        """Appends what motes report of themselves; what cannot be sent now is sent again soon."""
        rows = [
            (*row[:-1], round(self._began_s + float(str(row[-1])), 3))
            for row in self.building.statuses()
        ]
        if not rows:
            return
        try:
            tell(rows, uuid.uuid4().hex)
        except (RedisError, OSError) as fault:
            logger.warning("statuses not sent", reason=str(fault), motes=len(rows))

    def _as_sent(self, reading: Reading) -> dict[str, Any]:
        at_s = self._began_s + reading.at_s
        sent: dict[str, Any] = {
            "sid": reading.sid,
            "value": reading.value,
            "unit": reading.unit,
            "at_s": round(at_s, 3),
        }
        if reading.tag:
            sent["tag"] = reading.tag
        return sent

    def _send(self) -> int:
        if self._batch is None:
            if not self._waiting:
                return 0
            self._batch = (uuid.uuid4().hex, self._waiting)
            self._waiting = []
        key, readings = self._batch
        try:
            self._append(readings, key)
        except (RedisError, OSError) as fault:
            logger.warning("log not reached", reason=str(fault), waiting=len(readings))
            return 0
        except AspenError as fault:
            # Somebody may have removed a sensor since: drop what it said, keep the rest.
            self._follow_edits()
            kept = [one for one in readings if one["sid"] in self._specs]
            if len(kept) == len(readings):
                logger.exception("readings refused", code=fault.code, readings=len(readings))
                kept = []
            self._batch = (uuid.uuid4().hex, kept) if kept else None
            return 0
        self._batch = None
        self.sent += len(readings)
        self.runner.heard(str(one["sid"]) for one in readings)
        return len(readings)

    def _follow_edits(self) -> None:
        """Brings the building up to date with the tables, sensor by sensor."""
        seen = version()
        if seen == self._seen:
            return
        self._seen = seen
        self.building.kernel.locked = locked_doors()
        wanted = self._acquire()
        self.building.acquire(wanted)
        self.runner.acquired(wanted)
        self.runner.follow()
        self._want(wanted)
        specs, visitors = sensor_specs(), visitor_specs()
        for sid in self._specs.keys() - specs.keys():
            self.building.drop_sensor(sid)
        changed = {sid: spec for sid, spec in specs.items() if self._specs.get(sid) != spec}
        if changed:
            motes = mote_specs(changed)
            for sid, spec in changed.items():
                try:
                    self.building.put_sensor(spec, motes.get(sid))
                except (BadParameters, UnknownWaveform, KeyError) as fault:
                    logger.warning("sensor cannot be simulated", sid=sid, reason=str(fault))
        for tag in self._visitors.keys() - visitors.keys():
            self.building.kernel.drop_visitor(tag)
        for tag, visitor in visitors.items():
            if self._visitors.get(tag) != visitor:
                self.building.kernel.put_visitor(visitor)
        self._specs, self._visitors = specs, visitors
