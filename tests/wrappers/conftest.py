"""A real MQTT broker of the test's own, and a web server that says what the test tells it."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from waiting import until
from wrappers.site import Site

from aspen.log.entry import Interest, Tick, Transaction
from smartcis import composition
from smartcis.actions.deploy_standing_queries import deploy_standing_queries
from smartcis.ingest.relay import relay
from smartcis.models import Source
from smartcis.queries import standing_queries
from smartcis.sources.reader import poll_source
from smartcis.sources.sink import SourceSink
from smartcis.wrappers.kinds import kind_of
from smartcis.wrappers.protocol import Measured, Measurements, Settings
from smartcis.wrappers.pulse import Pulse, dead_s, late_s

WAIT_S = 60.0
KEEP_S = 1e6  # longer than any test's clock runs
VIEWS = {
    f"{view}.streamsql"
    for view in (
        *("source_status", "silent_source", "reserved_room", "dark_room", "closed_room"),
        *("silent_room", "room_light", "newest_light"),
        *("room_climate", "newest_temperature", "newest_humidity"),
        "outlet_power",
        *("newest_reading", "silent_sensor"),
    )
}
# A Tuesday morning that the calendar files speak of.
START_S = datetime(2026, 3, 10, 9, 30, tzinfo=UTC).timestamp()


class Mosquitto:
    """A broker on a port of its own that keeps sessions on disk, and can be killed."""

    def __init__(self, folder: Path, *, keeps: bool = True) -> None:
        self.folder = folder
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            self.port = one.getsockname()[1]
        self.url = f"mqtt://127.0.0.1:{self.port}"
        (folder / "mosquitto.conf").write_text(
            f"listener {self.port} 127.0.0.1\nallow_anonymous true\nuser root\n"
            f"persistence {str(keeps).lower()}\npersistence_location {folder}/\n"
            "autosave_interval 1\nautosave_on_changes true\n"
        )
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        found = shutil.which("mosquitto") or "/usr/sbin/mosquitto"
        with (self.folder / "mosquitto.log").open("ab") as output:
            self.process = subprocess.Popen(
                [found, "-c", str(self.folder / "mosquitto.conf")],
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        until(self._answers, "Mosquitto", patience_s=WAIT_S)

    def _answers(self) -> bool:
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", self.port)) == 0

    def end(self, how: signal.Signals) -> None:
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait()
            self.process = None


@pytest.fixture
def broker(tmp_path) -> Iterator[Mosquitto]:
    one = Mosquitto(tmp_path)
    one.start()
    yield one
    one.end(signal.SIGKILL)


@pytest.fixture
def forgetful_broker(tmp_path) -> Iterator[Mosquitto]:
    one = Mosquitto(tmp_path, keeps=False)
    one.start()
    yield one
    one.end(signal.SIGKILL)


def settings_of(kind: str, config: dict, **more) -> Settings:
    """Settings as the table would give them."""
    more = {"source": "s", "period_s": 10.0, "client_id": "test-s"} | more
    return Settings(config=kind_of(kind).checked(config), **more)


def health(pulse: Pulse, now_s: float) -> tuple[str, float]:
    """Returns the state and since when, as the view `source_status` would."""
    silent_s = now_s - pulse.heard_s
    if silent_s <= late_s(pulse.period_s) and not pulse.never:
        return "live", pulse.since_s
    return ("late" if silent_s <= dead_s(pulse.period_s) else "dead"), pulse.heard_s


@pytest.fixture
def site() -> Iterator[Site]:
    one = Site()
    yield one
    one.go()


class House:
    """The small house with its standing views, on a clock turned by hand."""

    def __init__(self, engine) -> None:
        self.now_s = START_S
        self._engine = engine
        texts = standing_queries()
        deploy_standing_queries({name: texts[name] for name in texts if name in VIEWS})
        relay(composition.log(), now_s=self.clock)

    def clock(self) -> float:
        return self.now_s

    def later(self, seconds: float) -> None:
        """Let time pass."""
        self.now_s += seconds
        composition.log().append([Tick(self.now_s)])

    def poll(self, source: Source) -> bool:
        return poll_source(Source.objects.get(pk=source.pk), composition.log(), self.clock)

    def rows(self, view: str) -> list[tuple]:
        """What the view holds now, as its readers see it."""
        relay(composition.log(), now_s=self.clock)
        look = Interest(self.now_s, view, "test", KEEP_S)
        composition.log().append([look, Tick(self.now_s)])
        self._engine()
        return sorted(tuple(row) for row in composition.results().snapshot(view).rows)

    def state(self, source: Source) -> tuple[str, str]:
        """State and reason of a source, as the map is told them."""
        (found,) = [row for row in self.rows("source_status") if row[0] == source.pk]
        return found[1], found[3]


@pytest.fixture
def home(building, house, engine) -> House:
    return House(engine)


def in_log(relation: str) -> list[tuple[int, tuple]]:
    """All changes of a relation in the log as it is."""
    log = composition.log()
    return [
        (change.weight, change.row)
        for _, entry in log.read(0, log.head())
        if isinstance(entry, Transaction)
        for change in entry.changes
        if change.relation == relation
    ]


def changes_of(relation: str) -> list[tuple[int, tuple]]:
    """All changes of a relation in the log, once it has been told what is committed."""
    relay(composition.log())
    return in_log(relation)


def source_of(url: str = "mqtt://127.0.0.1", **config) -> Source:
    return Source.objects.create(
        source="b", name="b", kind="mqtt", config={"url": url, **config}, period_s=1.0
    )


def heard(*measured: Measured, at_s: float | None = None, **more) -> Measurements:
    return Measurements("", measured, time.time() if at_s is None else at_s, **more)


@pytest.fixture
def sink(building, house) -> SourceSink:
    source_of()
    relay(composition.log())
    return SourceSink("b", composition.log())
