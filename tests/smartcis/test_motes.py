"""The building's devices are motes: their readings travel, and they tell of themselves."""

from __future__ import annotations

import pytest

from aspen.algebra.plan import Aggregate, AggregateFunction, GroupBy
from aspen.log.entry import Change, Transaction
from aspen.model.schema import Column, Type
from aspen.streamsql.statement import read_statement
from sensors_sim.innet.compile import Fragment
from smartcis import composition
from smartcis.access.owner import SYSTEM
from smartcis.actions.register_query import register_query
from smartcis.catalog import CATALOG
from smartcis.ingest.hour import PAST
from smartcis.ingest.readings import append_readings
from smartcis.models import Machine, Sensor, Unit
from smartcis.placements.device_streams import whole_stream
from smartcis.simulation.deployment import FROM_INSIDE, STATUS, wanted_streams
from smartcis.simulation.motes import field
from smartcis.simulation.pacer import Pacer
from smartcis.simulation.world import sensor_specs, world

pytestmark = pytest.mark.django_db

NOW_S = 1_795_000_000.0


class Simulated:
    """The simulator's process with a clock turned by hand and a real log.

    What is kept of readings for an hour is left out: `tests/ingest/test_hour.py` looks at it.
    """

    def __init__(self, acquire):
        self.now_s = NOW_S
        self.log = composition.log()
        self.pacer = Pacer(
            world(),
            2026,
            self._append,
            acquire,
            clock=lambda: self.now_s,
            tell=self._tell,
            tell_inside=self._tell_inside,
        )

    def _append(self, readings, key):
        append_readings(self.log, readings, key=key, now_s=self.now_s)

    def _tell(self, rows, key):
        changes = tuple(Change(STATUS, 1, row) for row in rows)
        self.log.append([Transaction(self.now_s, changes)], key=f"{STATUS}:{key}")

    def _tell_inside(self, changes, key):
        self.log.append([Transaction(self.now_s, tuple(changes))], key=f"inside:{key}")

    def run(self, seconds, beat_s=1.0):
        """Let time pass; give the rows that reached the log, by relation."""
        before, found = self.log.head(), {}
        for _ in range(round(seconds / beat_s)):
            self.now_s += beat_s
            self.pacer.beat()
        for _, entry in self.log.read(before, self.log.head()):
            if isinstance(entry, Transaction):
                for change in entry.changes:
                    if change.relation != PAST:
                        found.setdefault(change.relation, []).append(change.row)
        return found


def test_every_sensor_but_programs_is_a_mote_and_every_level_has_a_base(furnished):
    assert furnished
    radio = field(sensor_specs())
    motes = {mote.mote: mote for mote in radio.motes}
    kinds = dict(Sensor.objects.filter(enabled=True).values_list("sid", "kind"))
    assert {sid for sid, kind in kinds.items() if kind != "cpu"} == {
        name for name, mote in motes.items() if not mote.base
    }
    levels = {mote.level for mote in radio.motes}
    assert {mote.level for mote in radio.motes if mote.base} == levels
    assert {wall.level for wall in radio.walls} >= levels
    assert all(
        motes[sid].powered == (kind in {"rfid", "energy"})
        for sid, kind in kinds.items()
        if sid in motes
    )


def test_motes_tell_of_themselves_while_a_query_reads_it(furnished, building):
    assert furnished
    assert building
    simulated = Simulated(wanted_streams)
    assert STATUS not in simulated.run(10)
    register_query(
        read_statement("SELECT s.sid, s.energy_mj FROM mote_status [PARTITION BY sid ROWS 1] s"),
        SYSTEM,
    )
    rows = simulated.run(130)[STATUS]
    relation = CATALOG.get(STATUS)
    names = set(Sensor.objects.exclude(kind="cpu").values_list("sid", flat=True))
    told = {}
    for row in rows:
        relation.check(row)
        sid, parent, energy_mj, hops, quality, at_s = row
        assert sid in names
        assert parent in names or parent.startswith("base.")
        assert energy_mj >= told.get(sid, 0.0)
        assert 1 <= hops <= 32
        assert 0.0 < quality <= 1.0
        assert NOW_S <= at_s <= simulated.now_s
        told[sid] = energy_mj
    assert len(told) > 0.9 * len(names)


def test_a_meter_and_a_door_contact_are_heard(furnished, building):
    assert furnished
    assert building
    machine = Machine.objects.order_by("mid").first()
    room = Unit.objects.get(pk="O27-332")
    Sensor.objects.filter(kind="energy").exclude(machine=machine).update(enabled=False)
    meter = machine.sensors.get(kind="energy")
    door = Sensor(
        kind="door", unit=room, waveform="constant", parameters={"value": 1.0, "noise": 0.0}
    )
    door.full_clean(exclude=["sid", "level", "node", "unit", "x_m", "y_m"])
    door.save()
    rows = Simulated(lambda: frozenset({"energy_reading", "door_reading"})).run(15)
    assert {row[:2] for row in rows["energy_reading"]} == {(machine.mid, meter.sid)}
    assert all(30.0 < row[2] < 250.0 for row in rows["energy_reading"])
    assert {row[:3] for row in rows["door_reading"]} == {(room.rid, door.sid, 1.0)}
    assert set(rows) == {"energy_reading", "door_reading"}


def test_computers_tell_of_themselves_while_somebody_looks(furnished, building):
    assert furnished
    assert building
    wanted = {"seat_reading"}
    simulated = Simulated(lambda: frozenset(wanted))
    assert set(simulated.run(20)) == {"seat_reading"}
    wanted |= FROM_INSIDE
    Sensor.objects.filter(kind="cpu").first().save()  # an edit: the simulator looks what is wanted
    rows = simulated.run(20)
    machines = dict(Machine.objects.values_list("host", "mid"))
    assert {row[0] for row in rows["host_load"]} == set(machines)
    assert {row[:2] for row in rows["host_process"]} == {
        (host, place) for host in machines for place in (1, 2, 3)
    }
    loads = {row[0]: row[1] for row in rows["host_load"]}
    for host, _place, _pid, _name, cpu_pct, _mb, _at_s in rows["host_process"][-3:]:
        assert cpu_pct <= loads[host]


def test_an_optimizer_may_average_a_level_inside_the_network(furnished, building):
    assert furnished
    assert building
    simulated = Simulated(lambda: frozenset({"seat_reading"}))
    host = simulated.pacer.building.network
    scan = whole_stream(CATALOG.get("temperature_reading"))
    aggregates = (
        Aggregate(AggregateFunction.COUNT, None, Column("n", Type.INT)),
        Aggregate(AggregateFunction.AVG, "s.celsius", Column("mean", Type.FLOAT, "°C")),
    )
    handle = host.deploy(Fragment(GroupBy(scan, (), aggregates), 10.0))
    rows = simulated.run(120)
    assert set(rows) == {"seat_reading"}  # its answers go to whoever deployed it
    answers = handle.take()
    thermometers = Sensor.objects.filter(kind="temperature").count()
    assert max(answer.motes for answer in answers) > 0.9 * thermometers
    for answer in answers[3:]:
        [(n, mean)] = answer.rows
        assert n == answer.motes <= answer.expected == thermometers
        assert 18.0 < mean < 30.0
    assert host.query_account(handle).energy_mj > 0.0
    host.remove(handle)
