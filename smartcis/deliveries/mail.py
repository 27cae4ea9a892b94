"""Mail: an alarm's step as an e-mail in plain words, with a link to where it is on the plan."""

from __future__ import annotations

import smtplib
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlencode

from django.conf import settings
from django.core.mail import EmailMessage
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, override

from smartcis.deliveries.outputs import may_write_to
from smartcis.models import Delivery

_SUBJECTS = {
    "raised": gettext_noop("{severity}: {title}{where}"),
    "cleared": gettext_noop("Cleared: {title}{where}"),
    "no data": gettext_noop("No data: {title}{where}"),
    "data again": gettext_noop("Data again: {title}{where}"),
}
FINAL = 500
"""Answers of mail servers from here on stay what they are."""
HINT = gettext_noop("Staff can acknowledge, mute or assign this alarm on the map.")
_KINDS = (("mid", "machine"), ("rid", "room"), ("door_id", "door"))


def send_mail(call: Delivery) -> tuple[str, bool]:
    """Sends one e-mail.

    Returns:
        What went wrong, empty for nothing; and whether trying again is no use.
    """
    if not settings.EMAIL:
        return "this server sends no e-mail any more", True
    if not may_write_to(call.target):
        return "the operator no longer allows this address", True
    try:
        message_of(call).send()
    except smtplib.SMTPRecipientsRefused as error:
        codes = [code for code, _ in error.recipients.values()]
        return f"the mail server refused the address: {codes}", all(one >= FINAL for one in codes)
    except (smtplib.SMTPException, OSError, ValueError) as error:
        return f"{type(error).__name__}: {error}", False
    return "", False


def message_of(call: Delivery) -> EmailMessage:
    """Returns the e-mail: the same at each attempt, so that a mail program knows a second one."""
    with override(settings.EMAIL_LANGUAGE):
        return _message(call, call.alarm or {})


def _message(call: Delivery, said: dict[str, Any]) -> EmailMessage:
    place = next(((kind, said[name]) for name, kind in _KINDS if said[name]), None)
    kind, _space, name = said["where"].partition(" ")
    subject = _(_SUBJECTS[said["step"]]).format(
        severity=_(said["severity"].capitalize()),
        title=said["title"],
        where=f", {_(kind)} {name}" if kind else "",
    )
    lines = [subject, "", *_facts(said), "", *_links(place), _(HINT)]
    return EmailMessage(
        subject=" ".join(subject.split()),
        body="\n".join(lines),
        to=[call.target],
        headers={"Message-ID": _message_id(call.key), "Auto-Submitted": "auto-generated"},
    )


def link_to(place: tuple[str, str] | None) -> str:
    """Returns the address of a place on the plan; empty where the operator named none."""
    if not settings.PUBLIC_URL:
        return ""
    selected = {"select": ":".join(place)} if place else {}
    return f"{settings.PUBLIC_URL}/?{urlencode(selected, quote_via=quote)}".rstrip("?")


def _facts(said: dict[str, Any]) -> list[str]:
    facts = [_("Since %s.") % _clock(said["raised_s"])]
    if said["cleared_s"] is not None:
        facts.append(_("Until %s.") % _clock(said["cleared_s"]))
    if said["value"] is not None:
        value = f"{said['value']:g} {said['unit']}".rstrip()
        word = _("Last value: %s.") if said["kind"] == "no data" else _("Value: %s.")
        facts.append(word % value)
    return [*facts, _("The row: %s.") % said["message"]]


def _links(place: tuple[str, str] | None) -> list[str]:
    link = link_to(place)
    return [_("On the plan: %s") % link, ""] if link else []


def _clock(at_s: float) -> str:
    return datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _message_id(key: str) -> str:
    domain = settings.DEFAULT_FROM_EMAIL.rpartition("@")[2].rstrip(">")
    return f"<{key.replace(':', '.')}@{domain}>"
