"""The shipped building, derived, stored and furnished once per module."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import transaction

from smartcis.importers.derive import BuildingPlan, derive
from smartcis.importers.formats import drawing_of
from smartcis.importers.run import SHIPPED
from smartcis.importers.seed.run import Seeded, seed
from smartcis.importers.store import store
from smartcis.models.outbox import _Committed


@pytest.fixture(scope="session")
def ulm() -> BuildingPlan:
    return derive(drawing_of(SHIPPED))


@contextmanager
def rolled_back() -> Iterator[None]:
    """A transaction around several tests; each test's own is a savepoint inside it."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.fixture(scope="module")
def furnished(ulm, django_db_setup, django_db_blocker) -> Iterator[Seeded]:
    """The furnished building. No relay runs: what is written stays in the outbox."""
    listeners, _Committed.listeners = _Committed.listeners, ()
    with django_db_blocker.unblock(), rolled_back():
        store(ulm)
        yield seed(2026)
    _Committed.listeners = listeners
