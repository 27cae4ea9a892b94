"""SQLite: how many parameters a statement may have, asked of the library itself.

Django counts on 999, what SQLite allowed until 2020; 10,000 rows are then dozens of statements.
"""

from __future__ import annotations

import sqlite3
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created


def install() -> None:
    """Asks each connection as it opens."""
    connection_created.connect(_ask, dispatch_uid="smartcis.models.sqlite")


def _ask(connection: BaseDatabaseWrapper, **_: Any) -> None:
    if connection.vendor == "sqlite":
        most = connection.connection.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER)
        connection.features.max_query_params = most
