"""Recordings: replayed in their own time or as if now, each row once, however they are read."""

from __future__ import annotations

import csv
import json
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from wrappers.conftest import START_S, changes_of, settings_of

from smartcis.models import SeenDevice, Sensor, Source
from smartcis.wrappers.errors import BadConfig, LogAway, SourceDown
from smartcis.wrappers.protocol import Measurements
from smartcis.wrappers.recording import Recording

DAY = datetime(2015, 2, 11, 14, 48, tzinfo=UTC)
# As R writes it: the names of its rows have no heading, and times no zone.
OCCUPANCY = (
    '"date","Temperature","Humidity","CO2"\n'
    '"1",2015-02-11 14:48:00,21.76,31.1,1029\n'
    '"2",2015-02-11 14:49:00,21.79,,1000\n'
    '"3",2015-02-11 14:50:00,21.8,31.3,1003\n'
)
OCCUPANCY_CONFIG = {
    "file": "room.csv",
    "time": "date",
    "values": {"Temperature": "temperature", "Humidity": "humidity", "CO2": "co2"},
}


class Log:
    """Takes each key once, as the log does; may be away for some."""

    def __init__(self, *, away: frozenset[int] = frozenset(), lost: frozenset[int] = frozenset()):
        self.taken: dict[str, Measurements] = {}
        self.calls = 0
        self._away, self._lost = away, lost

    def __call__(self, batch: Measurements) -> int:
        self.calls += 1
        if self.calls in self._away:
            raise LogAway("away")
        self.taken.setdefault(batch.key, batch)
        if self.calls in self._lost:
            raise LogAway("the answer was lost")
        return len(batch.measured)

    def readings(self) -> list[tuple]:
        return [
            (one.device, one.quantity, one.value, round(one.at_s, 6))
            for batch in self.taken.values()
            for one in batch.measured
        ]


@pytest.fixture(autouse=True)
def folder(settings, tmp_path):
    settings.TABLE_FOLDERS = [str(tmp_path)]
    (tmp_path / "room.csv").write_text(OCCUPANCY)
    return tmp_path


def replay(config: dict, polls_s, log: Log, memory: dict | None = None) -> Recording:
    """Polls at those times after the start, each in a process of its own."""
    memory = {} if memory is None else memory
    recording = None
    for later_s in polls_s:
        stored = json.loads(json.dumps(memory))
        said = settings_of("recording", config, source="rec", memory=stored)
        recording = Recording(said, lambda later_s=later_s: START_S + later_s)
        recording.ask(log)
        memory.clear()
        memory.update(json.loads(json.dumps(stored)))
    return recording


def test_rows_come_when_their_time_has_come():
    log, memory = Log(), {}
    replay(OCCUPANCY_CONFIG, [0.0], log, memory)
    assert log.readings() == []
    replay(OCCUPANCY_CONFIG, [10.0], log, memory)
    first = [
        ("rec", "temperature", 21.76, START_S),
        ("rec", "humidity", 31.1, START_S),
        ("rec", "co2", 1029.0, START_S),
    ]
    assert log.readings() == first
    replay(OCCUPANCY_CONFIG, [59.0], log, memory)
    assert log.readings() == first
    replay(OCCUPANCY_CONFIG, [200.0], log, memory)
    assert log.readings()[3:] == [
        ("rec", "temperature", 21.79, START_S + 60.0),
        ("rec", "co2", 1000.0, START_S + 60.0),
        ("rec", "temperature", 21.8, START_S + 120.0),
        ("rec", "humidity", 31.3, START_S + 120.0),
        ("rec", "co2", 1003.0, START_S + 120.0),
    ]
    ended = replay(OCCUPANCY_CONFIG, [210.0], log, memory)
    assert ended.pulse.reason == "the recording has ended"


def test_speed_and_loop():
    config = OCCUPANCY_CONFIG | {"values": {"CO2": "co2"}, "speed": 60, "loop": True}
    log = Log()
    replay(config, range(9), log)
    # Three rows a minute apart, one second each, and the same step between two turns.
    assert log.readings() == [
        ("rec", "co2", (1029.0, 1000.0, 1003.0)[n % 3], START_S + n) for n in range(8)
    ]


def test_in_its_own_time_nothing_is_read_before_it_and_nothing_old(folder):
    now = datetime.fromtimestamp(START_S, UTC)
    times = [now - timedelta(days=3), now - timedelta(hours=1), now + timedelta(seconds=30)]
    rows = [f"{one.isoformat()};{number}" for number, one in enumerate(times)]
    (folder / "own.csv").write_text("\n".join(["at;watts", *rows]))
    config = {"file": "own.csv", "time": "at", "values": {"watts": "power"}, "start": "own"}
    log, memory = Log(), {}
    old = replay(config, [0.0, 5.0], log, memory)
    assert log.readings() == [("rec", "power", 1.0, START_S - 3600.0)]
    assert "too old" in old.warnings[0]
    replay(config, [40.0], log, memory)
    assert log.readings()[1:] == [("rec", "power", 2.0, START_S + 30.0)]


def written(folder, form: str, steps: list[float], group_rows: int) -> dict:
    """Writes a recording of those steps, in milliseconds and with a column of sensors."""
    at_ms, rows = 1_700_000_000_000, []
    for number, step_s in enumerate(steps):
        at_ms += round(step_s * 1000)
        rows.append({"t": at_ms, "who": f"s{number % 3}", "v": float(number)})
    name = f"r.{form}"
    if form == "csv":
        with (folder / name).open("w", newline="") as file:
            table = csv.DictWriter(file, ["t", "who", "v", "note"])
            table.writeheader()
            table.writerows(row | {"note": 'a "word",\nand another'} for row in rows)
    else:
        table = pa.Table.from_pylist(rows)
        parquet.write_table(table, folder / name, row_group_size=group_rows)
    return {
        "file": name,
        "time": "t",
        "time_form": "ms",
        "values": {"v": "temperature"},
        "sensor": "who",
    }


@settings(
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    form=st.sampled_from(["csv", "parquet"]),
    steps=st.lists(st.sampled_from([-2.0, 0.0, 0.4, 1.0, 7.0]), min_size=1, max_size=25),
    group_rows=st.integers(1, 9),
    polls=st.lists(st.floats(0.1, 40.0), max_size=12),
    away=st.frozensets(st.integers(1, 20), max_size=4),
    lost=st.frozensets(st.integers(1, 20), max_size=4),
    crashes=st.frozensets(st.integers(1, 12), max_size=4),
    loop=st.booleans(),
)
def test_any_polls_restarts_and_losses_give_the_same_readings_once(
    folder, form, steps, group_rows, polls, away, lost, crashes, loop
):
    config = written(folder, form, steps, group_rows) | {"loop": loop}
    end_s = 300.0
    plain, torn = Log(), Log(away=away, lost=lost)
    replay(config, [0.0, end_s], plain)
    memory: dict = {}
    replay(config, [0.0], torn, memory)
    at_s = 0.0
    for number, wait_s in enumerate(polls):
        at_s = min(at_s + wait_s, end_s)
        if number in crashes:
            replay(config, [at_s], torn, dict(memory))  # it ended before its place was stored
        else:
            replay(config, [at_s], torn, memory)
    replay(config, [end_s] * 10, torn, memory)
    assert sorted(torn.readings()) == sorted(plain.readings())
    assert len(plain.readings()) == len(steps) or loop
    assert {value for _, _, value, _ in plain.readings()} == set(map(float, range(len(steps))))


def test_much_at_once_is_taken_in_pieces(folder):
    rows = "".join(f"{1_700_000_000 + n * 0.001:.3f},{n}\n" for n in range(12_000))
    (folder / "fast.csv").write_text("t,v\n" + rows)
    config = {"file": "fast.csv", "time": "t", "time_form": "s", "values": {"v": "temperature"}}
    log, memory = Log(), {}
    replay(config, [0.0, 100.0], log, memory)
    assert len(log.readings()) == 5_000
    replay(config, [110.0, 120.0], log, memory)
    assert [value for _, _, value, _ in log.readings()] == [float(n) for n in range(12_000)]
    assert max(len(batch.measured) for batch in log.taken.values()) <= 500


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no column 't'"),
        ("a,b\n1,2\n", "no column 't'"),
        ("t,v\n", "ended"),
        ("t,v\nsoon,1\n", "ended"),
        ("t,v\n" + "x" * 1_000_100, "longer than"),
        ("\x00\x00", "no column 't'"),
    ],
)
def test_a_file_that_is_no_recording_is_down(folder, text, reason):
    (folder / "bad.csv").write_text(text)
    config = {"file": "bad.csv", "time": "t", "values": {"v": "temperature"}}
    log = Log()
    assert reason in replay(config, [0.0, 5.0, 10.0], log).pulse.reason
    assert log.readings() == []


def test_broken_rows_are_named_and_the_others_stay(folder):
    lines = [
        "t,v",
        "2026-01-01T00:00:00Z,1",
        "soon,2",
        "2026-01-01T00:00:00Z",
        "2026-01-01T00:00:00Z,much",
        "2026-01-01T00:00:00Z,n/a,3,4",
        "2026-01-01T00:00:00Z,\x00",
        '2026-01-01T00:00:00Z,"' + "9" * 200_000 + '"',
        "2026-01-01T00:00:01Z,8",
    ]
    (folder / "bad.csv").write_text("\n".join(lines))
    config = {"file": "bad.csv", "time": "t", "values": {"v": "temperature"}}
    log = Log()
    recording = replay(config, [0.0, 5.0], log)
    assert [value for _, _, value, _ in log.readings()] == [1.0, 8.0]
    assert len(recording.warnings) >= 5


def test_a_parquet_file_that_is_none_is_down(folder):
    (folder / "bad.parquet").write_bytes(b"PAR1" + b"\xff" * 100 + b"PAR1")
    config = {"file": "bad.parquet", "time": "t", "values": {"v": "temperature"}}
    assert "Parquet" in replay(config, [0.0, 5.0], Log()).pulse.reason
    config["file"] = "gone.parquet"
    assert "cannot be read" in replay(config, [0.0, 5.0], Log()).pulse.reason


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"file": "/etc/passwd"}, "operator's folders"),
        ({"file": "../x.csv"}, "operator's folders"),
        ({"file": "room.xlsx"}, "CSV or Parquet"),
        ({"values": {}}, "needs 'values'"),
        ({"values": {"CO2": ""}}, "kind of sensor"),
        ({"values": {"CO2": "", "T": "temperature"}, "sensor": "who"}, "kind of sensor"),
        ({"speed": 0}, "speed"),
        ({"speed": "fast"}, "number"),
        ({"speed": True}, "number"),
        ({"start": "later"}, "one of now, own"),
        ({"start": "own", "loop": True}, "runs once"),
        ({"loop": 1}, "true or false"),
    ],
)
def test_settings_that_cannot_be(change, reason):
    with pytest.raises(BadConfig, match=reason):
        Recording(settings_of("recording", OCCUPANCY_CONFIG | change))


@pytest.mark.django_db
def test_a_recording_feeds_placed_sensors_and_lists_the_others(home, folder):
    rows = "t,who,v\n0.5,A.temperature,20\n1.5,attic,19\n2.5,A.temperature,21\n3,x,y\n"
    (folder / "ids.csv").write_text(rows)
    sensor = Sensor(sid="A.temperature", kind="temperature", unit_id="A", simulated=False)
    sensor.clean()
    sensor.save()
    config = {"file": "ids.csv", "time": "t", "time_form": "s", "sensor": "who"}
    source = Source(
        source="rec", name="rec", kind="recording", config=config | {"values": {"v": ""}}
    )
    source.full_clean()
    source.save()
    home.poll(source)
    home.later(10.0)
    assert home.poll(source)
    assert [row for _, row in changes_of("temperature_reading")] == [
        ("A.temperature", "A", 20.0, START_S),
        ("A.temperature", "A", 21.0, START_S + 2.0),
    ]
    source.refresh_from_db()
    assert any("no such sensor" in one for one in source.state.warnings)
    assert SeenDevice.objects.count() == 0
    source.config = source.config | {"values": {"v": "temperature"}}
    source.save()
    source.state.memory = {}
    source.state.save()
    home.poll(source)
    home.later(10.0)
    home.poll(source)
    assert SeenDevice.objects.get().sids() == {"temperature": "attic"}


def test_down_says_what_it_found(folder):
    recording = Recording(settings_of("recording", OCCUPANCY_CONFIG | {"time": "when"}))
    recording.settings.memory.update(began_s=1.0)
    with pytest.raises(SourceDown, match="no column 'when'"):
        recording.poll(Log())
