"""A database that takes nothing for now: whoever asks is told to come back."""

from __future__ import annotations

from django.db import OperationalError

from smartcis.api.problems import RETRY_S, handle


def test_whoever_edits_while_the_disk_is_full_is_told_to_come_back():
    answer = handle(OperationalError("database or disk is full"), {})
    assert answer is not None
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, str(RETRY_S))


def test_a_mistake_of_ours_stays_one():
    assert handle(ValueError("ours"), {}) is None
