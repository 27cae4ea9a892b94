"""Which databases a source of tables may read: never the product's own, however it is spelt."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from django.core.exceptions import ValidationError
from django.db import connection
from wrappers.conftest import changes_of, settings_of

from smartcis.models import OutboxEntry
from smartcis.wrappers.database import OURS
from smartcis.wrappers.errors import BadConfig, SourceDown
from smartcis.wrappers.table import DatabaseTable
from tests.wrappers.another_database import COLUMNS, folder, outside, source_of

__all__ = ["folder", "outside"]
pytestmark = [pytest.mark.database, pytest.mark.django_db]


def own_database() -> Path:
    return Path(connection.settings_dict["NAME"])


def linked(folder: Path) -> str:
    (folder / "link.sqlite3").symlink_to(own_database())
    return f"sqlite:///{folder}/link.sqlite3"


def linked_hard(folder: Path) -> str:
    os.link(own_database(), folder / "hard.sqlite3")
    return f"sqlite:///{folder}/hard.sqlite3"


def copied(folder: Path) -> str:
    for ending in ("", "-wal"):
        written = Path(f"{own_database()}{ending}")
        if written.exists():
            shutil.copyfile(written, f"{folder}/copy.sqlite3{ending}")
    return f"sqlite:///{folder}/copy.sqlite3"


def relative(folder: Path) -> str:
    return f"sqlite:///{os.path.relpath(own_database())}"


def dotted(folder: Path) -> str:
    up = "../" * len(folder.parts)
    return f"sqlite:///{folder}/{up}{str(own_database()).lstrip('/')}"


def as_uri(folder: Path) -> str:
    return f"sqlite:///file:{own_database()}?mode=rw"


def straight(folder: Path) -> str:
    return f"sqlite:///{own_database()}"


SPELLINGS = [straight, relative, dotted, as_uri, linked, linked_hard, copied]


@pytest.mark.skipif(connection.vendor != "sqlite", reason="files are SQLite's")
@pytest.mark.parametrize("spelt", SPELLINGS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("anywhere", [False, True])
def test_no_spelling_reaches_the_database_of_the_product(home, folder, settings, spelt, anywhere):
    settings.TABLE_FOLDERS = ["/"] if anywhere else [str(folder)]
    config = {
        "database": spelt(folder),
        "table": "auth_user",
        "key": "username",
        "relation": "people",
        "columns": [{"name": "username", "type": "TEXT"}, {"name": "password", "type": "TEXT"}],
    }
    with pytest.raises((BadConfig, SourceDown), match=r"SmartCIS itself|folders alone|not answer"):
        DatabaseTable(settings_of("table", config)).poll(lambda _: 0)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="hosts are PostgreSQL's")
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.1", "%2Ftmp"])
def test_no_name_of_the_host_reaches_the_database_of_the_product(home, host):
    there = connection.settings_dict
    if there["HOST"].startswith("/"):
        host = there["HOST"].replace("/", "%2F")
    config = {
        "database": f"postgres://{there['USER']}@{host}:{there['PORT']}/{there['NAME']}",
        "table": "public.auth_user",
        "key": "username",
        "relation": "people",
        "columns": [{"name": "username", "type": "TEXT"}],
    }
    with pytest.raises(SourceDown, match=r"SmartCIS itself|does not answer"):
        DatabaseTable(settings_of("table", config)).poll(lambda _: 0)


def test_the_table_that_tells_our_databases_is_one_of_ours():
    assert OutboxEntry._meta.db_table == OURS


@pytest.mark.parametrize(
    "table",
    {
        "sqlite": ["sqlite_master", "sqlite_schema", "pragma_database_list", "asset; --", "other"],
        "postgresql": [
            *("pg_shadow", "pg_catalog.pg_authid", "pg_hba_file_rules", "pg_file_settings"),
            *("information_schema.tables", "asset; --", "other"),
        ],
    }[connection.vendor],
)
def test_catalogs_are_no_tables(home, outside, table):
    url, _ = outside
    source = source_of(url, table=table)
    assert not home.poll(source)
    state, reason = home.state(source)
    assert state != "live"
    assert "no table or view" in reason
    assert changes_of("inventory") == []


@pytest.mark.skipif(connection.vendor != "sqlite", reason="files are SQLite's")
def test_files_of_the_server_are_read_from_the_operators_folders_alone(home, folder, tmp_path):
    for path in ("/etc/passwd", "../relative.sqlite3", f"{tmp_path}/../elsewhere.sqlite3"):
        with pytest.raises(ValidationError, match="folders alone"):
            source_of(f"sqlite:///{path}")
    (folder / "passwd").symlink_to("/etc/passwd")
    with pytest.raises(ValidationError, match="folders alone"):
        source_of(f"sqlite:///{folder}/passwd")


def test_the_environment_gives_away_nothing(home, monkeypatch):
    monkeypatch.setenv("SMARTCIS_SECRET_KEY", "very-secret")
    for url in ("env:SMARTCIS_SECRET_KEY", "very-secret"):
        with pytest.raises(ValidationError) as refused:
            source_of(url)
        assert "very-secret" not in str(refused.value)


def test_nobody_reads_of_hosts_and_accounts():
    config = {
        "database": "postgres://secret:word@127.0.0.1:1/inventory",
        "table": "t",
        "key": "asset",
        "relation": "inventory",
        "columns": COLUMNS,
    }
    with pytest.raises(SourceDown, match=r"^the database does not answer$"):
        DatabaseTable(settings_of("table", config)).poll(lambda _: 0)
