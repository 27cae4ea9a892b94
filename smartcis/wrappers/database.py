"""Databases outside: which one an address means, and what of it is never read.

a file       one below the operator's folders, wherever a link leads
ours         whichever way it is reached, it holds our tables: refused, copies of it, too
a catalog    system tables and foreign ones would show the server's files and accounts: refused
"""

from __future__ import annotations

import os
from typing import Any

import dj_database_url
from django.db.backends.base.base import BaseDatabaseWrapper

from smartcis.wrappers.errors import BadConfig, SourceDown
from smartcis.wrappers.files import allowed_file
from smartcis.wrappers.secrets import ENVIRONMENT

CONNECT_S = 10
ENGINES = ("django.db.backends.sqlite3", "django.db.backends.postgresql")
OURS = "smartcis_outboxentry"
"""A table that every database of this product has, and no other."""

_HOLDS_OURS = {
    "sqlite": "SELECT 1 FROM sqlite_master WHERE lower(name) = %s",
    "postgresql": "SELECT 1 FROM pg_catalog.pg_class WHERE relname = %s",
}
_MAY_BE_READ = {
    "sqlite": "SELECT 1 FROM sqlite_master WHERE type IN ('table', 'view') AND '\"' "
    "|| replace(lower(name), '\"', '\"\"') || '\"' = lower(%s)",
    "postgresql": "SELECT 1 FROM pg_catalog.pg_class c "
    "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
    "WHERE c.oid = pg_catalog.to_regclass(%s) AND c.relkind IN ('r', 'p', 'v', 'm') "
    "AND n.nspname !~ '^(pg_|information_schema$)'",
}


def database_of(url: str) -> dict[str, Any]:
    """Returns Django's description of a database that is only read.

    Raises:
        BadConfig: no address of a kind that is read here, or a file elsewhere than it may be.
    """
    shown = url.partition("://")[0] if "://" in url else ""  # never more: passwords stand behind
    if url.startswith(ENVIRONMENT):
        shown = url.removeprefix(ENVIRONMENT)
        url = os.environ.get(shown, "")
        if not url:
            raise BadConfig(f"the environment has no {shown[:60]}", found=shown[:60])
    try:
        found: dict[str, Any] = dict(dj_database_url.parse(url))
    except ValueError as error:
        raise BadConfig("not the address of a database", found=shown[:60]) from error
    if found.get("ENGINE") not in ENGINES:
        raise BadConfig(
            "tables are read from SQLite and PostgreSQL",
            found=shown[:60],
            exists=("sqlite", "postgres"),
        )
    if found["ENGINE"] == ENGINES[0]:
        # A missing file must not come to be, empty.
        return found | {
            "NAME": f"{allowed_file(found['NAME']).as_uri()}?mode=ro",
            "OPTIONS": {"uri": True},
        }
    options = {"options": "-c default_transaction_read_only=on", "connect_timeout": CONNECT_S}
    return found | {"OPTIONS": options}


def check_table(connection: BaseDatabaseWrapper, quoted: str) -> None:
    """Refuses what is no source, whatever the address said.

    Args:
        quoted: the table, perhaps with its schema, as a query names it.

    Raises:
        SourceDown: the database is this product's, or it has no such table of its own.
    """
    with connection.cursor() as cursor:
        cursor.execute(_HOLDS_OURS[connection.vendor], [OURS])
        if cursor.fetchone():
            raise SourceDown("this is a database of SmartCIS itself, which is no source")
        cursor.execute(_MAY_BE_READ[connection.vendor], [quoted])
        if not cursor.fetchone():
            raise SourceDown(f"the database has no table or view {quoted[:60]} of its own")
