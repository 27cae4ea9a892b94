"""A whole server for clients: the product's ASGI application, and the engine's work beside it."""

from __future__ import annotations

import time

import pytest
from api.crowd import Server
from api.test_api import running
from client.cable import Cable
from django.contrib.auth.models import User

from smartcis.access.owner import SYSTEM
from smartcis.actions.deploy_standing_queries import deploy_standing_queries
from smartcis.actions.issue_token import issue_token
from smartcis.actions.push_readings import push_readings
from smartcis.client import SmartCIS

PATIENCE_S = 120.0  # what a busy machine may take


@pytest.fixture
def served(building, house, engine):
    """Host and port of a server whose engine works."""
    deploy_standing_queries({})
    server = Server()
    server.start()
    try:
        with running(engine):
            yield server.address
    finally:
        server.stop()


@pytest.fixture
def standing(served):
    """The standing views, too, and both machines free."""
    deploy_standing_queries()
    seats = [{"sid": f"{mid}.seat", "value": 0, "unit": "kg"} for mid in ("m1", "m2")]
    loads = [{"sid": f"{mid}.cpu", "value": 5, "unit": "%"} for mid in ("m1", "m2")]
    push_readings([one | {"at_s": time.time()} for one in (*seats, *loads)], SYSTEM)


@pytest.fixture
def cable(served):
    """A cable to it, which can be cut."""
    one = Cable(served)
    yield one
    one.close()


@pytest.fixture
def visitor(served):
    """A client of it, without a token."""
    with SmartCIS(f"http://{served}", timeout_s=PATIENCE_S, patience_s=PATIENCE_S) as client:
        yield client


@pytest.fixture
def gate(served):
    """The token of a member of staff."""
    user = User.objects.create_user("gate", is_staff=True)
    return issue_token("t", scope="account", user=user)[1]
