"""Another database with a table of assets, SQLite's or PostgreSQL's, and a source that reads it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from django.db import connection

from smartcis.models import Source

COLUMNS = [
    {"name": "asset", "type": "TEXT"},
    {"name": "watts", "type": "FLOAT", "unit": "W", "nullable": True},
    {"name": "spare", "type": "BOOL"},
]
Run = Callable[[str], None]


@pytest.fixture
def folder(tmp_path, settings) -> Path:
    settings.TABLE_FOLDERS = [str(tmp_path)]
    return tmp_path


@pytest.fixture
def outside(folder, tmp_path) -> Iterator[tuple[str, Run]]:
    """Another database: its address, and a way to change it."""
    if connection.vendor == "postgresql":
        there = connection.settings_dict
        server = f"{there['USER']}@{there['HOST']}:{there['PORT']}"
        name = f"{there['NAME']}_outside"
        with psycopg.connect(f"postgresql://{server}/postgres", autocommit=True) as one:
            one.execute(f'DROP DATABASE IF EXISTS "{name}"')
            one.execute(f'CREATE DATABASE "{name}"')
        db = psycopg.connect(f"postgresql://{server}/{name}", autocommit=True)
        url = f"postgres://{server}/{name}"
    else:
        path = tmp_path / "inventory.sqlite3"
        db = sqlite3.connect(path, isolation_level=None)
        url = f"sqlite:///{path}"
    db.execute("CREATE TABLE asset (asset TEXT, watts NUMERIC, spare BOOLEAN, seen INTEGER)")
    db.execute("INSERT INTO asset VALUES ('a', 1.5, true, 1), ('b', NULL, false, 2)")
    yield url, db.execute
    db.execute("DROP TABLE IF EXISTS asset")
    db.close()


def source_of(url: str, **more) -> Source:
    config = {
        "database": url,
        "table": "asset",
        "key": "asset",
        "relation": "inventory",
        "columns": COLUMNS,
    }
    source = Source(
        source="inv", name="Inventory", kind="table", config=config | more, period_s=60.0
    )
    source.added_at = datetime(2026, 3, 10, 9, tzinfo=UTC)
    source.full_clean()
    source.save()
    return source
