"""Kernel: turns simulated time by hand and collects what the sensors report.

    time    0 ──────── tick(3) ──────── 3 ──── tick(1) ──── 4
    heap    seat@0.4 turn@1.2 seat@1.2! tag@2.0 …
    out            └ readings in time order ┘

Law: the same world, seed and calls give the same readings, and tick(a) then tick(b) gives what
tick(a + b) gives. Every sensor, machine and visitor draws from its own stream of chance, so
changing one changes no other.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections import defaultdict
from collections.abc import Iterable
from random import Random

from aspen.motes.kinds import DeviceKind, device_kind
from sensors_sim.computers import ComputerState, computer_state
from sensors_sim.faults import FAULTS, Wrong
from sensors_sim.occupancy import Workplace, workplace_of
from sensors_sim.radio import FLOOR_DBM, signal_dbm
from sensors_sim.visitors import Walker
from sensors_sim.waveforms import waveform
from sensors_sim.waveforms.base import Sample
from sensors_sim.world import Reading, SensorSpec, VisitorSpec, World

HELLO_S = 3.0  # every sensor reports once within this time, then at its own pace
HEARING_M = 40.0  # receivers further away than this are not even considered

SENSOR, TURN, BEACON = 0, 1, 2


class Kernel:
    """The simulated building.

    Args:
        world: what is in it at the start.
        seed: decides everything left to chance.
        acquire: streams somebody wants; None for all. Sensors of other streams stay silent.
    """

    def __init__(self, world: World, seed: int, acquire: frozenset[str] | None = None) -> None:
        self.now_s = 0.0
        self._acquired = acquire
        self.locked = world.locked
        self._seed = seed
        self._spots = world.spots
        self._steps = world.steps
        self._heap: list[tuple[float, int, str, int]] = []
        self._planned = itertools.count()
        self._generation: dict[tuple[int, str], int] = {}  # of the event that is to come
        self._sensors: dict[str, SensorSpec] = {}
        self._kinds: dict[str, DeviceKind] = {}
        self._rngs: dict[str, Random] = {}
        self._samples: dict[str, tuple[float, Sample]] = {}
        self._faults: dict[str, Wrong] = {}
        self._workplaces: dict[str, Workplace] = {}
        self._seats: dict[str, set[str]] = defaultdict(set)
        self._receivers: dict[str, dict[str, SensorSpec]] = defaultdict(dict)
        self._walkers: dict[str, Walker] = {}
        self._inside: dict[str, Random] = {}
        self._ether: dict[str, Random] = {}
        for sensor in world.sensors:
            self.put_sensor(sensor)
        for visitor in world.visitors:
            self.put_visitor(visitor)

    @property
    def sensors(self) -> frozenset[str]:
        """Ids of the sensors that are there."""
        return frozenset(self._sensors)

    @property
    def visitors(self) -> frozenset[str]:
        """Tags of the visitors that are there."""
        return frozenset(self._walkers)

    @property
    def acquire(self) -> frozenset[str] | None:
        """Streams somebody wants; None for all."""
        return self._acquired

    @acquire.setter
    def acquire(self, streams: frozenset[str] | None) -> None:
        """Change what is wanted: sensors of a stream that was silent say a first word soon."""
        before, self._acquired = self._acquired, streams
        for sid, kind in self._kinds.items():
            was = before is None or kind.stream in before
            if not was and not kind.hears_tags and (streams is None or kind.stream in streams):
                self._at(self.now_s + self._rngs[sid].uniform(0.0, HELLO_S), SENSOR, sid)

    def computers(self) -> dict[str, ComputerState]:
        """Look inside the computers whose seat or processor is simulated, by machine."""
        found = {}
        for mid, workplace in self._workplaces.items():
            rng = self._inside.setdefault(mid, Random(f"{self._seed}/inside/{mid}"))
            found[mid] = computer_state(workplace, rng)
        return found

    def put_sensor(self, sensor: SensorSpec) -> None:
        """Add a sensor, or replace the one of its id; a replaced one reports at once."""
        kind = device_kind(sensor.kind)
        known = sensor.sid in self._sensors
        self.drop_sensor(sensor.sid)
        self._sensors[sensor.sid] = sensor
        self._kinds[sensor.sid] = kind
        rng = Random(f"{self._seed}/sensor/{sensor.sid}")
        self._rngs[sensor.sid] = rng
        if kind.hears_tags:
            self._receivers[sensor.level][sensor.sid] = sensor
            return
        if sensor.fault:
            chance = Random(f"{self._seed}/fault/{sensor.sid}")
            begin = FAULTS[sensor.fault].begin
            self._faults[sensor.sid] = begin(sensor.fault_amount, self.now_s, chance)
        if sensor.waveform == "people":
            self._watch(sensor)
        else:
            sample = waveform(sensor.waveform).start(sensor.parameters, rng)
            self._samples[sensor.sid] = (self.now_s, sample)
        first = self.now_s > 0 or known
        self._at(self.now_s if first else rng.uniform(0.0, HELLO_S), SENSOR, sensor.sid)

    def drop_sensor(self, sid: str) -> None:
        """Remove a sensor; an unknown one is already gone."""
        sensor = self._sensors.pop(sid, None)
        if sensor is None:
            return
        self._generation.pop((SENSOR, sid), None)
        for known in (self._samples, self._kinds, self._rngs, self._faults):
            known.pop(sid, None)
        self._receivers[sensor.level].pop(sid, None)
        self._seats[sensor.mid].discard(sid)

    def put_visitor(self, visitor: VisitorSpec) -> None:
        """Let a visitor walk in, or change the pace of one who is there."""
        known = self._walkers.get(visitor.tag)
        if known is not None:
            known.spec = visitor
            return
        if not self._steps:
            return
        rng = Random(f"{self._seed}/visitor/{visitor.tag}")
        starts = sorted(self._steps)
        walker = Walker(visitor, rng, starts[rng.randrange(len(starts))])
        walker.rests_until_s = self.now_s
        # Another receiver must not send people elsewhere: hearing has chances of its own.
        self._ether[visitor.tag] = Random(f"{self._seed}/radio/{visitor.tag}")
        self._walkers[visitor.tag] = walker
        self._at(self.now_s + rng.uniform(0.0, 1.0), BEACON, visitor.tag)

    def drop_visitor(self, tag: str) -> None:
        """Let a visitor leave."""
        if self._walkers.pop(tag, None) is not None:
            del self._generation[BEACON, tag], self._ether[tag]

    def tick(self, seconds: float) -> list[Reading]:
        """Move time on and give what was reported meanwhile, in time order."""
        end_s = self.now_s + seconds
        readings: list[Reading] = []
        while self._heap and self._heap[0][0] <= end_s:
            due_s, what, key, generation = heapq.heappop(self._heap)
            if generation != self._generation.get((what, key)):
                continue
            self.now_s = due_s
            if what == SENSOR:
                readings += self._report(key)
                self._at(due_s + self._pace_s(key, due_s), SENSOR, key)
            elif what == TURN:
                self._turn(key)
            else:
                readings += self._beacon(key)
        self.now_s = end_s
        return readings

    def sample(self, sid: str, at_s: float) -> list[tuple[float]]:
        """Measure outside the sensor's own period, for a query with a period of its own.

        Returns:
            One value, rounded as the device does; nothing for a sensor that is gone, a receiver, or
            where a fault loses it.
        """
        sensor = self._sensors.get(sid)
        if sensor is None or self._kinds[sid].hears_tags:
            return []
        value = self._reported(sensor, max(at_s, self.now_s))
        return [] if value is None else [(_held(self._kinds[sid], value),)]

    def _at(self, due_s: float, what: int, key: str) -> None:
        """Schedule one event, replacing the one pending for the same thing."""
        self._generation[what, key] = generation = next(self._planned)
        heapq.heappush(self._heap, (due_s, what, key, generation))

    def _pace_s(self, sid: str, due_s: float) -> float:
        """Returns the time to the next report; after the hello, sensors fall out of step."""
        period_s = self._sensors[sid].period_s
        if due_s <= HELLO_S < period_s:
            return period_s * self._rngs[sid].uniform(0.3, 1.0)
        return period_s

    def _watch(self, sensor: SensorSpec) -> None:
        """Tie a sensor to its machine's story."""
        if sensor.mid not in self._workplaces:
            workplace = workplace_of(sensor.mid, self._seed, self.now_s)
            self._workplaces[sensor.mid] = workplace
            self._at(workplace.until_s, TURN, sensor.mid)
        if self._kinds[sensor.sid].changes_at_once:
            self._seats[sensor.mid].add(sensor.sid)

    def _turn(self, mid: str) -> None:
        workplace = self._workplaces[mid]
        workplace.turn(self.now_s)
        self._at(workplace.until_s, TURN, mid)
        for sid in sorted(self._seats[mid]):
            self._at(self.now_s, SENSOR, sid)

    def _report(self, sid: str) -> Iterable[Reading]:
        sensor, kind = self._sensors[sid], self._kinds[sid]
        if self.acquire is not None and kind.stream not in self.acquire:
            return ()
        value = self._reported(sensor, self.now_s)
        return () if value is None else (self._reading(sensor, kind, value),)

    def _reported(self, sensor: SensorSpec, at_s: float) -> float | None:
        """Returns what a sensor says, which its fault decides; None for nothing."""
        value = self._value(sensor, at_s)
        wrong = self._faults.get(sensor.sid)
        return value if wrong is None else wrong(value, at_s)

    def _value(self, sensor: SensorSpec, at_s: float) -> float:
        if sensor.waveform != "people":
            began_s, sample = self._samples[sensor.sid]
            return sample(at_s - began_s)
        workplace, rng = self._workplaces[sensor.mid], self._rngs[sensor.sid]
        match sensor.kind:
            case "seat":
                return workplace.seat_kg(rng)
            case "energy":
                return workplace.watts(rng)
            case _:
                return workplace.cpu_pct(rng)

    def _reading(
        self, sensor: SensorSpec, kind: DeviceKind, value: float, tag: str = ""
    ) -> Reading:
        return Reading(sensor.sid, _held(kind, value), kind.unit, round(self.now_s, 3), tag)

    def _beacon(self, tag: str) -> Iterable[Reading]:
        """Let a tag be heard by the receiver that hears it best."""
        walker = self._walkers[tag]
        here = walker.advance(self.now_s, self._spots, self._steps, self.locked)
        self._at(self.now_s + walker.beacon_s(), BEACON, tag)
        kind = device_kind("rfid")
        if self.acquire is not None and kind.stream not in self.acquire:
            return ()
        best: tuple[float, str] | None = None
        for sid, receiver in self._receivers[here.level].items():
            away_m = math.hypot(receiver.x_m - here.x_m, receiver.y_m - here.y_m)
            if away_m > HEARING_M:
                continue
            heard = (signal_dbm(away_m, self._ether[tag]), sid)
            if heard[0] >= FLOOR_DBM and (best is None or heard > best):
                best = heard
        if best is None:
            return ()
        return (self._reading(self._sensors[best[1]], kind, best[0], tag),)


def _held(kind: DeviceKind, value: float) -> float:
    """Returns a value as the device gives it: within its range, rounded."""
    return round(min(max(value, kind.least), kind.greatest), kind.decimals)
