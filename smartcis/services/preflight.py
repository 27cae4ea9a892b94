"""Preflight: what a start lacks on this machine, all of it at once and before anything runs."""

from __future__ import annotations

import fcntl
import os
import re
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import redis
from django.conf import settings
from django.db import DatabaseError, connection

from aspen.redis_client import connect_once

JAVA_AT_LEAST = 17
PATIENCE_S = 5.0
PORTS = 65_536


def missing(port: int) -> list[str]:
    """Returns what keeps the product from starting here, a sentence each.

    Args:
        port: where its web server shall listen.
    """
    return [*_java(), *_port(port), *_redis(), *_database(), *_front_end()]


def only_here(var: Path) -> IO[str] | None:
    """Takes the folder for this process, until it ends; None where another has it.

    The file that is returned is kept open as long as the folder is ours.
    """
    taken = (var / "lock").open("a+")
    try:
        fcntl.flock(taken, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        taken.close()
        return None
    taken.truncate(0)
    taken.write(str(os.getpid()))
    taken.flush()
    return taken


def runs_already(var: Path) -> str:
    """Says which process has the folder."""
    pid = (var / "lock").read_text().strip() or "?"
    return f"SmartCIS runs already with {var}, as process {pid}; end it, or set SMARTCIS_VAR"


def _java() -> Iterator[str]:
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else "java"
    try:
        told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)  # noqa: S603  # the operator's own
        found = re.search(r'version "(\d+)', told.stderr)
        version = int(found[1]) if found else 0
    except OSError:
        version = 0
    if version < JAVA_AT_LEAST:
        has = f"{java} is version {version}" if version else f"there is no {java}"
        yield (
            f"Spark needs Java {JAVA_AT_LEAST} or newer, and {has}; on Debian and Ubuntu: "
            "sudo apt-get install openjdk-17-jre-headless"
        )


def _port(port: int) -> Iterator[str]:
    if not 0 < port < PORTS:
        yield f"{port} is no port; choose one from 1024 to {PORTS - 1} with --port"
        return
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            yield f"port {port} cannot be had ({error.strerror}); choose another with --port"


def _redis() -> Iterator[str]:
    url = os.environ.get("REDIS_URL")
    if not url:
        return  # the embedded one is started, and says itself what it lacks
    try:
        with connect_once(url, PATIENCE_S) as client:
            client.ping()
    except (redis.RedisError, ValueError) as error:
        yield f"the Redis server of REDIS_URL does not answer: {error}"


def _database() -> Iterator[str]:
    try:
        connection.ensure_connection()
    except DatabaseError as error:
        first = str(error).strip().splitlines()[0]
        yield f"the database {settings.DATABASES['default']['NAME']} cannot be opened: {first}"


def _front_end() -> Iterator[str]:
    if not (settings.FRONTEND_DIST / "manifest.json").exists():
        yield f"the pages are not built: {settings.FRONTEND_DIST} is missing; docker/setup.sh run"
