"""Send: calls and e-mails that are due; again later where nobody took one, and at last given up.

    attempt    1    2    3     4 …   10 → given up
    after      0    2 s  4 s   8 s   at most 10 minutes apart

Law:        a call is made at least once or given up where everybody sees it; calls of one query to
            one address are made in the order of its epochs: while one waits, later ones wait too.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import httpx
import structlog
from django.conf import settings
from django.utils import timezone

from aspen.errors import AspenError
from smartcis.deliveries.mail import send_mail
from smartcis.deliveries.outputs import EMAIL, allowed, hosts
from smartcis.models import Alarm, Delivery
from smartcis.outbound import calling

ATTEMPTS = 10
LONGEST_PAUSE_S = 600
DEADLINE_S = 5.0
AT_ONCE = 200
TURN_S = 20.0
"""How long one turn may take; the next one goes on."""

KEPT = timedelta(days=7)
GONE = 410
FAULT_LENGTH = 300
logger = structlog.get_logger(__name__)


def send_due(clock_s: Callable[[], float] = time.monotonic) -> int:
    """Makes the calls that are due; one caller at a time.

    Returns:
        How many were taken.
    """
    until_s, done = clock_s() + TURN_S, 0
    waiting: set[tuple[str, str]] = set()
    pending = Delivery.objects.filter(state=Delivery.State.PENDING).order_by("pk")
    for call in pending.select_related("outlet__query__view")[:AT_ONCE]:
        line = (call.outlet_id, call.target)
        due = call.due_at is None or call.due_at <= timezone.now()
        if line in waiting or not due:
            waiting.add(line)
            continue
        if clock_s() > until_s:
            break
        if _make(call):
            done += 1
        elif call.state == Delivery.State.PENDING:
            waiting.add(line)
    return done


def sweep_settled() -> int:
    """Forgets calls that were settled a week ago, and old alarms; returns how many."""
    now = timezone.now()
    past = Alarm.objects.filter(
        cleared_s__lt=(now - timedelta(days=settings.ALARM_DAYS)).timestamp()
    )
    old = Delivery.objects.filter(settled_at__lt=now - KEPT)
    return past.delete()[1].get("smartcis.Alarm", 0) + old.delete()[0]


def signature(body: bytes, at_s: int) -> str:
    """Signs a body: `t=1700000000,v1=<hex>`, HMAC-SHA256 of `<t>.<body>` under the secret."""
    digest = hmac.new(settings.WEBHOOK_SECRET.encode(), f"{at_s}.".encode() + body, hashlib.sha256)
    return f"t={at_s},v1={digest.hexdigest()}"


def body_of(call: Delivery) -> bytes:
    """Returns what is sent: the same bytes at each attempt."""
    query = call.outlet.query
    names = [name for name, *_ in query.view.columns]
    fields: dict[str, Any] = {
        "key": call.key,
        "query": query.pk,
        "name": query.name or None,
        "view": query.view_id,
        "epoch": call.epoch,
        "position": call.position,
        "at_s": call.at_s,
    }
    if call.alarm is not None:
        fields["alarm"] = call.alarm
    else:
        fields["change"] = "insert" if call.weight > 0 else "delete"
        fields["times"] = abs(call.weight)
        fields["row"] = dict(zip(names, call.row, strict=False))
    return json.dumps(fields, ensure_ascii=False, allow_nan=False).encode()


def _make(call: Delivery) -> bool:
    """Makes one call; whether it was taken."""
    fault, final = send_mail(call) if call.kind == EMAIL else _try(call)
    call.attempts += 1
    call.fault = fault[:FAULT_LENGTH]
    now = timezone.now()
    if not fault:
        call.state, call.due_at, call.settled_at = Delivery.State.DELIVERED, None, now
    elif final or call.attempts >= ATTEMPTS:
        call.state, call.due_at, call.settled_at = Delivery.State.GIVEN_UP, None, now
        logger.error(
            "delivery given up", kind=call.kind, key=call.key, target=call.target, reason=call.fault
        )
    else:
        call.due_at = now + timedelta(seconds=min(2**call.attempts, LONGEST_PAUSE_S))
    note(call)
    return not fault


def note(call: Delivery) -> None:
    """Writes down what became of an attempt, unless the query was stopped meanwhile."""
    Delivery.objects.filter(pk=call.pk).update(
        attempts=call.attempts,
        fault=call.fault,
        state=call.state,
        due_at=call.due_at,
        settled_at=call.settled_at,
    )


def _try(call: Delivery) -> tuple[str, bool]:
    """Calls once.

    Returns:
        What went wrong, empty for nothing; and whether trying again is no use.
    """
    if not allowed(call.target, settings.WEBHOOKS):
        return "the operator no longer allows this address", True
    body = body_of(call)
    headers = {
        "Content-Type": "application/json",
        "Idempotency-Key": call.key,
        "X-SmartCIS-Signature": signature(body, int(time.time())),
    }
    try:
        # Only the status counts, and a body without end would be read for ever.
        with (
            calling(DEADLINE_S, listed=hosts(settings.WEBHOOKS)) as client,
            client.stream("POST", call.target, content=body, headers=headers) as answer,
        ):
            status = answer.status_code
    except AspenError as fault:
        return f"{fault.message} ({fault.found})" if fault.found else fault.message, False
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        return f"{type(error).__name__}: {error}", False
    return ("", False) if answer.is_success else (f"answered {status}", status == GONE)
