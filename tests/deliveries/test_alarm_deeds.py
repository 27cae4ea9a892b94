"""What people do about alarms, and e-mail: who may, what is noted, what is sent and given up."""

from __future__ import annotations

import smtplib
from datetime import timedelta

import pytest
from api.test_api import Caller, refused
from deliveries.test_alarms import CLAUSES, SQL, Room, standing
from django.contrib.auth.models import User
from django.core import mail
from django.utils import timezone

from smartcis.access.owner import Owner
from smartcis.deliveries.mail import message_of
from smartcis.deliveries.send import ATTEMPTS, send_due, sweep_settled
from smartcis.models import Alarm, Delivery, Unit, WatchedKey

pytestmark = [pytest.mark.database, pytest.mark.django_db]
ADDRESS = "house@example.org"
TOLD = f"{CLAUSES} NOTIFY EMAIL '{ADDRESS}'"


@pytest.fixture
def staff(building, house) -> Owner:
    user = User.objects.create_user("gate", is_staff=True)
    return Owner(user_id=user.pk, staff=True, account="gate")


@pytest.fixture
def caller(staff) -> Caller:
    caller = Caller()
    caller.client.force_login(User.objects.get(pk=staff.user_id))
    token = caller.client.get("/").cookies["csrftoken"].value
    return lambda *sent: caller(*sent, HTTP_X_CSRFTOKEN=token)


@pytest.fixture
def post(settings):
    settings.EMAIL = {"EMAIL_BACKEND": settings.EMAIL_BACKEND}
    settings.EMAIL_TO = ["@example.org"]
    settings.PUBLIC_URL = "https://plan.example.org"
    return settings


def hot(staff: Owner, output: str = CLAUSES) -> Room:
    rooms = Room(staff, output)
    rooms.read(0.0, A=30.0)
    rooms.read(40.0)
    return rooms


def later() -> None:
    Delivery.objects.filter(state="pending").update(due_at=timezone.now() - timedelta(seconds=1))


def test_staff_acknowledge_mute_and_assign_and_it_is_noted(staff, caller):
    rooms = hot(staff)
    path = f"alarms/{Alarm.objects.get().pk}/"
    before = timezone.now().timestamp()
    said = caller("PATCH", path, {"acknowledged": True, "assigned_to": "gate"}).json()
    assert (said["acknowledged_by"], said["assigned_to"]) == ("gate", "gate")
    assert said["acknowledged_s"] >= before
    said = caller("PATCH", path, {"muted_for_s": 3600}).json()
    assert before + 3600 <= said["muted_until_s"] <= timezone.now().timestamp() + 3600
    (row,) = [row for _, row in Alarm.objects.get().rows()]
    assert row[-3:] == (True, said["muted_until_s"], True)
    rooms.read(50.0, A=31.0)
    assert caller("GET", path).json()["acknowledged_by"] == "gate", "a new value takes nothing back"
    caller("PATCH", path, {"acknowledged": True})
    caller("PATCH", path, {"muted_for_s": 0, "acknowledged": False, "assigned_to": None})
    said = caller("GET", path).json()
    assert (said["muted_until_s"], said["acknowledged_s"], said["assigned_to"]) == (None,) * 3
    assert [(one["what"], one["account"]) for one in said["events"]] == [
        ("raised", ""),
        ("acknowledged", "gate"),
        ("assigned", "gate"),
        ("muted for 1 h", "gate"),
        ("acknowledgement taken back", "gate"),
        ("unmuted", "gate"),
        ("assigned to nobody", "gate"),
    ]


def test_others_see_alarms_and_no_accounts(staff, caller):
    hot(staff)
    number = Alarm.objects.get().pk
    caller("PATCH", f"alarms/{number}/", {"acknowledged": True, "assigned_to": "gate"})
    said = Caller()("GET", f"alarms/{number}/").json()
    assert (said["acknowledged_by"], said["assigned_to"]) == ("", "")
    assert said["acknowledged_s"] is not None
    assert [one["what"] for one in said["events"]] == ["raised", "acknowledged", "assigned"]
    for path in (f"alarms/{number}/", "alarms/", "queries/active_alarm/rows/"):
        assert b"gate" not in Caller()("GET", path).content
    assert Caller()("PATCH", f"alarms/{number}/", {"acknowledged": False}).status_code == 401
    wrong = caller("PATCH", f"alarms/{number}/", {"assigned_to": "nobody"})
    assert refused(wrong, 404, "smartcis.actions.not_found")["exists"] == ["gate"]


def test_where_calls_and_e_mail_go_is_for_staff_alone(staff, caller, post):
    post.WEBHOOKS = ["http://10.0.0.9/"]
    rooms = Room(staff, f"{TOLD}, WEBHOOK 'http://10.0.0.9/secret'")
    path = f"queries/{rooms.query.pk}/"
    own, others = caller("GET", path).json(), Caller()("GET", path).json()
    assert own["outputs"] == ["ALARM too warm", "WEBHOOK http://10.0.0.9/secret"]
    assert ADDRESS in own["sql"]
    assert (others["outputs"], others["sql"]) == (["ALARM too warm", "WEBHOOK"], SQL)
    for listing in (path, "queries/"):
        said = Caller()("GET", listing).content.decode()
        assert ADDRESS not in said
        assert "secret" not in said


def test_what_was_cleared_is_history_that_nobody_changes(staff, caller):
    rooms = hot(staff)
    rooms.read(50.0, A=20.0, B=30.0)
    rooms.read(120.0)
    listed = {
        state: [one["rid"] for one in caller("GET", f"alarms/?state={state}").json()["results"]]
        for state in ("standing", "cleared", "any")
    }
    assert listed == {"standing": ["B"], "cleared": ["A"], "any": ["B", "A"]}
    assert [one["rid"] for one in caller("GET", "alarms/").json()["results"]] == ["B"]
    past = Alarm.objects.get(rid="A")
    refused(caller("PATCH", f"alarms/{past.pk}/", {}), 409, "smartcis.actions.conflict")
    assert sweep_settled() == 1, "kept so many days of log time"
    assert [one.rid for one in Alarm.objects.all()] == ["B"]


def test_an_alarm_about_no_data_is_ended_by_hand_and_others_are_not(staff, caller):
    rooms = hot(staff)
    number = Alarm.objects.get().pk
    refused(caller("DELETE", f"alarms/{number}/"), 409, "smartcis.actions.conflict")
    rooms.read(50.0, A=None)
    rooms.read(151.0)
    assert [kind for _, kind, *_ in standing()] == ["threshold", "no data"]
    silent = Alarm.objects.get(kind="no data")
    assert caller("DELETE", f"alarms/{silent.pk}/").status_code == 204
    assert not standing()
    assert not WatchedKey.objects.exists()
    rooms.read(1000.0)
    assert not standing(), "what is gone for good is not missed again"
    rooms.read(1010.0, A=30.0)
    rooms.read(1050.0, A=None)
    rooms.read(1151.0)
    assert len(standing()) == 2


def test_an_e_mail_says_in_words_what_began_and_where(staff, post):
    Unit.objects.filter(pk="A").update(name="Library")
    rooms = hot(staff, TOLD)
    assert send_due() == 1
    rooms.read(50.0, A=30.5)
    assert send_due() == 0
    (sent,) = mail.outbox
    assert (sent.to, sent.subject) == ([ADDRESS], "Critical: too warm, room Library")
    assert sent.body.splitlines()[2:6] == [
        "Since 1970-01-01 00:00:30 UTC.",
        "Value: 30 °C.",
        "The row: rid A, sid A.t, celsius 30.",
        "",
    ]
    assert "On the plan: https://plan.example.org/?select=room%3AA" in sent.body
    rooms.read(60.0, A=None)
    rooms.read(161.0)
    rooms.read(162.0, A=20.0)
    rooms.read(223.0)
    send_due()
    subjects = [one.subject for one in mail.outbox[1:]]
    assert subjects == [
        f"{word}: too warm, room Library" for word in ("No data", "Data again", "Cleared")
    ]
    assert len({one.extra_headers["Message-ID"] for one in mail.outbox}) == 4


def test_e_mail_that_no_server_takes_is_sent_again_and_at_last_given_up(staff, post, monkeypatch):
    hot(staff, TOLD)
    faults: list[Exception] = [OSError("no route"), smtplib.SMTPServerDisconnected("gone")]

    def refuse(self, *_, **__):
        raise faults.pop(0) if faults else smtplib.SMTPException("busy")

    with monkeypatch.context() as away:
        away.setattr("django.core.mail.EmailMessage.send", refuse)
        for _ in range(ATTEMPTS + 1):
            later()
            send_due()
    lost = Delivery.objects.get()
    assert (lost.kind, lost.state, lost.attempts) == ("EMAIL", "given_up", ATTEMPTS)
    assert lost.fault == "SMTPException: busy"
    headers = message_of(lost).extra_headers
    Delivery.objects.update(state="pending", due_at=timezone.now())
    assert send_due() == 1
    assert mail.outbox[0].extra_headers == headers


@pytest.mark.parametrize(("code", "state"), [(550, "given_up"), (450, "pending")])
def test_an_address_that_is_refused_for_good_is_given_up_at_once(
    staff, post, monkeypatch, code, state
):
    hot(staff, TOLD)

    def refuse(self, *_, **__):
        raise smtplib.SMTPRecipientsRefused({ADDRESS: (code, b"no")})

    monkeypatch.setattr("django.core.mail.EmailMessage.send", refuse)
    send_due()
    assert Delivery.objects.get().state == state


def test_an_address_that_is_no_longer_allowed_is_not_written_to(staff, post):
    hot(staff, TOLD)
    post.EMAIL_TO = ["other@example.org"]
    send_due()
    assert Delivery.objects.get().state == "given_up"
    assert mail.outbox == []
