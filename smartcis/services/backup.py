"""Backup: database, log and keys as of one moment, in one file; and the way back.

    edits wait ──┬─ database ─┬── edits go on        what was committed is in the log, or waits in
                 └─ log ──────┘                      the outbox under the key it would have there

Law: views are a function of the log, so a restored product comes to the views it had. The
engine's checkpoint is not kept: it is built again from the log.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import sqlite3
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, cast

import msgpack
from django.conf import settings
from django.db import connection, connections, transaction

from aspen.errors import AspenError
from smartcis import composition
from smartcis.environment import private_opener
from smartcis.ingest.relay import hold_outbox
from smartcis.models import Venue
from smartcis.services.embedded_redis import EmbeddedRedis
from smartcis.services.processes import read_processes

FORMAT = 1
MANIFEST = "manifest.json"
KEYS = ("secret_key", "webhook_secret", "staff_password")


class BackupRefused(AspenError, code="smartcis.services.backup_refused"):
    """A backup that cannot be made, or not be brought back; nothing was changed."""


def backup(path: Path) -> dict[str, Any]:
    """Writes a backup, also of a running product, whose edits wait a moment.

    Args:
        path: of the file, which only its owner may read: it holds the keys.

    Returns:
        What it holds, as in its manifest.

    Raises:
        BackupRefused: the file is there already, or a tool is missing.
    """
    if path.exists():
        raise BackupRefused(f"{path} is there already", attempt="choose another name")
    with _redis_here(), tempfile.TemporaryDirectory(dir=settings.VAR) as folder:
        database = Path(folder) / "database"
        with transaction.atomic():
            hold_outbox()
            log = _dump_log()
            _dump_database(database)
        members = {"log": log, "database": database.read_bytes()}
        for name in KEYS:
            if (settings.VAR / name).exists():
                members[name] = (settings.VAR / name).read_bytes()
        manifest = {
            "format": FORMAT,
            "name": settings.NAME,
            "made_s": time.time(),
            "database": connection.vendor,
            "position": composition.log().head(),
            "sha256": {name: hashlib.sha256(data).hexdigest() for name, data in members.items()},
        }
    _write(path, {MANIFEST: json.dumps(manifest).encode(), **members})
    return manifest


def restore(path: Path, *, replace: bool = False) -> dict[str, Any]:
    """Brings a backup back; the product must not run, and there must be nothing to lose.

    Args:
        replace: lose what is there.

    Returns:
        The backup's manifest.

    Raises:
        BackupRefused: it is damaged or of another kind, or the product runs.
    """
    members, manifest = _read(path)
    with _redis_here():
        server = composition.server()
        running = [one.name for one in read_processes(server, settings.NAME) if one.up]
        if running:
            raise BackupRefused(
                "the product runs", found=", ".join(running), attempt="end it, then restore"
            )
        if not replace and _something_to_lose():
            raise BackupRefused(
                "there is a building here already", attempt="--replace, if it may be lost"
            )
        _load_database(members["database"])
        for key in server.scan_iter(f"{settings.NAME}:*", count=1_000):
            server.delete(key)
        for key, value in msgpack.unpackb(members["log"]):
            server.restore(f"{settings.NAME}:{key}", 0, value, replace=True)
    for name in KEYS:
        if name in members:
            target = settings.VAR / name
            target.unlink(missing_ok=True)
            with open(target, "xb", opener=private_opener) as file:
                file.write(members[name])
    shutil.rmtree(settings.ENGINE_CHECKPOINT, ignore_errors=True)
    return manifest


@contextmanager
def _redis_here() -> Iterator[None]:
    """Starts the embedded Redis for a while if it does not run."""
    if "REDIS_URL" in os.environ:
        yield
        return
    server = EmbeddedRedis(settings.VAR / "redis")
    if server.url == settings.REDIS_URL:
        server.start()
    try:
        yield
    finally:
        server.stop()


def _something_to_lose() -> bool:
    tables = connection.introspection.table_names()
    return Venue._meta.db_table in tables and Venue.objects.exists()  # noqa: SLF001  # Django's own way


def _dump_log() -> bytes:
    """Returns every key of the log without the product's name, all as of one moment."""
    server, prefix = composition.server(), f"{settings.NAME}:"
    own = settings.LOG_NAME
    keys = sorted(
        {f"{own}:log".encode(), *server.scan_iter(f"{own}:log:*", count=1_000)},
    )
    pipeline = server.pipeline(transaction=True)
    for key in keys:
        pipeline.dump(key)
    found = zip(keys, cast("list[bytes | None]", pipeline.execute()), strict=True)
    kept = [[key.decode().removeprefix(prefix), value] for key, value in found if value]
    return cast("bytes", msgpack.packb(kept))


def _dump_database(target: Path) -> None:
    if connection.vendor == "sqlite":
        with closing(sqlite3.connect(_sqlite())) as here, closing(sqlite3.connect(target)) as there:
            here.backup(there)
        return
    _postgres("pg_dump", "--format=custom", "--file", str(target))


def _load_database(data: bytes) -> None:
    connections.close_all()
    with tempfile.TemporaryDirectory(dir=settings.VAR) as folder:
        source = Path(folder) / "database"
        source.write_bytes(data)
        if connection.vendor == "sqlite":
            with (
                closing(sqlite3.connect(source)) as there,
                closing(sqlite3.connect(_sqlite())) as here,
            ):
                there.backup(here)
            return
        _postgres(
            *("pg_restore", "--clean", "--if-exists", "--no-owner", "--single-transaction"),
            *("--exit-on-error", "--dbname", settings.DATABASES["default"]["NAME"], str(source)),
        )


def _sqlite() -> str:
    return str(settings.DATABASES["default"]["NAME"])


def _postgres(tool: str, *words: str) -> None:
    """Runs a tool of PostgreSQL against the database.

    Raises:
        BackupRefused: it is missing, or says why it cannot.
    """
    own = settings.DATABASES["default"]
    names = {"PGHOST": "HOST", "PGPORT": "PORT", "PGUSER": "USER", "PGPASSWORD": "PASSWORD"}
    given = {name: str(own[key]) for name, key in names.items() if own.get(key)}
    environment = {**os.environ, **given, "PGDATABASE": own["NAME"]}
    try:
        done = subprocess.run(  # noqa: S603  # our own words
            [tool, *words], env=environment, capture_output=True, text=True, check=False
        )
    except FileNotFoundError as error:
        raise BackupRefused(
            f"{tool} is missing", attempt="sudo apt-get install postgresql-client"
        ) from error
    if done.returncode:
        raise BackupRefused(f"{tool} failed", found=done.stderr.strip()[-300:])


def _write(path: Path, members: Mapping[str, bytes]) -> None:
    """Writes all members, or no file."""
    unfinished = path.with_name(f"{path.name}.part")
    try:
        with open(unfinished, "wb", opener=private_opener) as f:
            with tarfile.open(fileobj=f, mode="w:gz") as archive:
                for name, data in members.items():
                    info = tarfile.TarInfo(name)
                    info.size, info.mode, info.mtime = len(data), 0o600, int(time.time())
                    archive.addfile(info, io.BytesIO(data))
            f.flush()
            os.fsync(f.fileno())
        unfinished.rename(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _read(path: Path) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Reads a backup whole and checks it.

    Raises:
        BackupRefused: it is none, damaged, or of another kind of database.
    """
    try:
        with tarfile.open(path, "r:gz") as archive:
            files = {one.name: archive.extractfile(one) for one in archive.getmembers()}
            members = {name: file.read() for name, file in files.items() if file is not None}
        manifest: dict[str, Any] = json.loads(members.pop(MANIFEST))
        known = manifest["format"] == FORMAT
        whole = manifest["sha256"] == {
            name: hashlib.sha256(data).hexdigest() for name, data in members.items()
        }
        vendor = manifest["database"]
    except (OSError, EOFError, tarfile.TarError, KeyError, TypeError, ValueError) as error:
        raise BackupRefused(f"{path} is no backup that can be read: {error}") from error
    if not known:
        raise BackupRefused(f"{path} was made by a later version", found=str(manifest["format"]))
    if not whole:
        raise BackupRefused(f"{path} is damaged", attempt="take another backup")
    if vendor != connection.vendor:
        raise BackupRefused(
            f"{path} is of another kind of database", found=vendor, exists=[connection.vendor]
        )
    return members, manifest
