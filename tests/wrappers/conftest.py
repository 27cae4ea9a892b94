"""A real MQTT broker of the test's own, and a web server that says what the test tells it."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from smartcis.wrappers.config import checked
from smartcis.wrappers.kinds import kind_of
from smartcis.wrappers.protocol import Settings

WAIT_S = 60.0


def wait_for(holds: Callable[[], object], what: str) -> None:
    """Wait, generously, until something holds."""
    end = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.02)


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
        wait_for(self._answers, "Mosquitto")

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
    return Settings(config=checked(kind_of(kind), config), **more)
