"""A database or a disk that takes nothing for now: whoever asks is told to come back."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import redis
from django.contrib.sessions.backends.db import SessionStore
from django.db import InterfaceError, OperationalError
from django.test import Client

from smartcis.api.problems import RETRY_S, handle

FULL = Path("/dev/full")
LOGS = """
import django
django.setup()
import structlog
for _ in range(1000):
    structlog.get_logger().error("what a full disk does not take")
"""


@pytest.mark.parametrize(
    "error",
    [
        OperationalError("database or disk is full"),
        InterfaceError("the connection is closed"),
        redis.ConnectionError("connection refused"),
    ],
)
def test_whoever_edits_meanwhile_is_told_to_come_back(error):
    answer = handle(error, {})
    assert answer is not None
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, str(RETRY_S))


def test_a_mistake_of_ours_stays_one():
    assert handle(ValueError("ours"), {}) is None


@pytest.mark.django_db
def test_a_page_says_so_too(monkeypatch):
    def refuse(*_args, **_kwargs):
        raise OperationalError("database or disk is full")

    monkeypatch.setattr(SessionStore, "save", refuse)
    answer = Client(raise_request_exception=False).get("/")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, str(RETRY_S))
    assert "cannot be shown for a moment" in answer.content.decode()


@pytest.mark.skipif(not FULL.exists(), reason="the system has no disk that is always full")
def test_what_cannot_be_logged_ends_nothing():
    with FULL.open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", LOGS],
            env={**os.environ, "DJANGO_SETTINGS_MODULE": "smartcis.settings"},
            stderr=full,
            check=False,
        )
    assert done.returncode == 0
