"""Staff see which processes are down, and what is left out of the log, which they can take in."""

from __future__ import annotations

import time

import pytest
from api.test_api import Caller, refused, staff  # noqa: F401  # a fixture
from django.conf import settings

from aspen.log.entry import Change, OneTimeQuery, Quarantined, Transaction
from smartcis import composition
from smartcis.services.processes import ProcessState, write_processes

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]


def test_what_is_down_is_named_to_everybody_and_in_full_to_staff(staff):  # noqa: F811
    states = [
        ProcessState("web", "h", 5, 1),
        ProcessState("clock", "h", 0, 2, "ended with status -9"),
    ]
    write_processes(composition.server(), settings.NAME, "h", states)
    assert Caller()("GET", "status/").json()["down"] == ["clock"]
    refused(Caller()("GET", "processes/"), 401, "smartcis.api.not_authenticated")
    told = staff("GET", "processes/").json()
    assert [(one["name"], one["up"], one["said"]) for one in told] == [
        ("clock", False, "ended with status -9"),
        ("web", True, ""),
    ]


def test_what_is_left_out_is_for_staff_to_see_and_to_take_in_again(staff):  # noqa: F811
    log = composition.log()
    edit = Transaction(time.time(), (Change("door", 1, ("x",)),))
    at = log.append([edit])
    asked = log.append([OneTimeQuery(1.0, "q", "v", ())])
    log.leave_out(at, 2)
    log.leave_out(asked, 1)
    for path in ("left-out/", f"left-out/{at}/"):
        method = "POST" if path[-2].isdigit() else "GET"
        refused(Caller()(method, path), 401, "smartcis.api.not_authenticated")
    told = staff("GET", "left-out/").json()
    assert [(one["position"], one["deaths"], one["taken_in_at"]) for one in told] == [
        (at, 2, 0),
        (asked, 1, 0),
    ]
    again = staff("POST", f"left-out/{at}/").json()
    assert again == staff("POST", f"left-out/{at}/").json()
    assert again["taken_in_at"] == log.head() == asked + 1
    entries = dict(log.read(0, log.head()))
    assert isinstance(entries[at], Quarantined)
    assert entries[asked + 1].changes == edit.changes
    refused(staff("POST", f"left-out/{asked}/"), 400, "smartcis.actions.invalid")
    refused(staff("POST", "left-out/7777/"), 404, "smartcis.actions.not_found")
