"""Schemathesis: whatever fits or breaks the OpenAPI description, the answers fit it."""

from __future__ import annotations

import pytest
import schemathesis
from celery import current_app
from django.contrib.auth.models import User
from django.core.wsgi import get_wsgi_application
from hypothesis import HealthCheck, given
from hypothesis import settings as limits
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance

from smartcis.actions.deploy_standing_queries import deploy_standing_queries
from smartcis.actions.issue_token import issue_token

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
LIMITED = limits(
    max_examples=10, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
PLAIN = {"Accept-Encoding": "identity"}  # nothing undoes what WSGI compresses
FIELDS = {"type", "title", "status", "code", "message", "position", "found", "exists", "try"}


@pytest.fixture
def operations(house, building, monkeypatch):
    """All operations, with the standing views deployed and nobody counting calls."""
    deploy_standing_queries()
    monkeypatch.setattr(current_app, "send_task", allow)  # no worker is there
    monkeypatch.setattr("rest_framework.throttling.ScopedRateThrottle.allow_request", allow)
    schema = schemathesis.openapi.from_wsgi("/api/schema/?format=json", get_wsgi_application())
    return [result.ok() for result in schema.get_all_operations()]


def allow(*_args) -> bool:
    return True


def test_reading_answers_as_described(operations):
    reading = [one for one in operations if one.method.upper() == "GET"]
    assert len(reading) > 10
    for operation in reading:

        @given(case=operation.as_strategy())
        @LIMITED
        def check(case):
            # JSON Schema cannot say that a filter holds no null character, which is refused.
            case.call_and_validate(headers=PLAIN, excluded_checks=[positive_data_acceptance])

        check()


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_no_body_breaks_the_server(operations, mode):
    """Bodies, good and bad, sent by staff: nothing ends in a 5xx, every refusal is a problem."""
    gate = User.objects.create_user("gate", is_staff=True)
    _, token = issue_token("t", scope="account", user=gate)
    writing = [one for one in operations if one.method.upper() in {"POST", "PATCH", "PUT"}]
    assert len(writing) > 7
    for operation in writing:

        @given(case=operation.as_strategy(generation_mode=mode))
        @LIMITED
        def check(case):
            answer = case.call(headers={"Authorization": f"Token {token}", **PLAIN})
            assert answer.status_code < 500, answer.content
            if answer.status_code >= 400:
                assert answer.headers["content-type"][0] == "application/problem+json"
                assert set(answer.json()) >= FIELDS

        check()
