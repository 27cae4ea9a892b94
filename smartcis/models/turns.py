"""Turns: transactions that count or look before they write, one after the other.

SQLite gives each transaction its turn when it begins (`transaction_mode` in the settings);
PostgreSQL is asked for an advisory lock, which ends with the transaction.
"""

from __future__ import annotations

from django.db import transaction

NAMES = "names"
"""The turn of those who give or take a name that queries may read."""


def take_turn(what: str, *, using: str = "default") -> None:
    """Waits until no other transaction has the turn of that name; must run inside a transaction."""
    connection = transaction.get_connection(using)
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError("a turn is taken inside a transaction")
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [what])
