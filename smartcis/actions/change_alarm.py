"""Change an alarm: who has seen it, until when nobody is told of it, whose it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import structlog
from django.contrib.auth import get_user_model
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_noop

from smartcis.access.owner import Owner
from smartcis.errors import Conflict, unknown
from smartcis.models import Alarm, AlarmEvent
from smartcis.models.lookup import found

logger = structlog.get_logger(__name__)


@transaction.atomic
def change_alarm(alarm_id: int, changes: Mapping[str, Any], owner: Owner) -> Alarm:
    """Notes what somebody of the staff does about an alarm that stands.

    Args:
        changes: `acknowledged`; `muted_for_s` from now on, 0 to be told again; `assigned_to`, the
            account of somebody of the staff, None for nobody.

    Raises:
        Refused: the owner is no staff.
        NotFound: no such alarm, or nobody of the staff has that account.
        Conflict: it was cleared.
    """
    owner.require_staff("change alarms")
    alarm = found(Alarm, alarm_id, "alarm")
    if alarm.cleared_s is not None:
        raise Conflict(
            "this alarm was cleared", found=str(alarm_id), attempt="see those that stand"
        )
    now_s = timezone.now().timestamp()
    done: list[str] = []
    if "acknowledged" in changes:
        done += _acknowledge(alarm, owner, now_s if changes["acknowledged"] else None)
    if "muted_for_s" in changes:
        for_s = changes["muted_for_s"]
        done.append(f"muted for {_spelt(for_s)}" if for_s else gettext_noop("unmuted"))
        alarm.muted_until_s = now_s + for_s if for_s else None
    if "assigned_to" in changes:
        whom = changes["assigned_to"] or ""
        done.append(gettext_noop("assigned") if whom else gettext_noop("assigned to nobody"))
        alarm.assigned_to = _staff(whom) if whom else None
    alarm.save(update_fields=["acknowledged_s", "acknowledged_by", "muted_until_s", "assigned_to"])
    by = {"alarm": alarm, "at_s": now_s, "account": owner.account}
    AlarmEvent.objects.bulk_create(
        AlarmEvent(what=what, whom=changes["assigned_to"] if what == "assigned" else "", **by)
        for what in done
    )
    logger.info("alarm_changed", alarm=alarm.pk, account=owner.account, what=done)
    return alarm


def _acknowledge(alarm: Alarm, owner: Owner, at_s: float | None) -> list[str]:
    """Says that somebody has taken note; who did first stays the one."""
    if (alarm.acknowledged_s is None) == (at_s is None):
        return []
    alarm.acknowledged_s = at_s
    alarm.acknowledged_by = "" if at_s is None else owner.account
    if at_s is None:
        return [gettext_noop("acknowledgement taken back")]
    return [gettext_noop("acknowledged")]


def _staff(account: str) -> Any:
    people = get_user_model().objects.filter(is_staff=True, is_active=True)
    one = people.filter(username=account).first()
    if one is None:
        raise unknown("account of the staff", account, people.values_list("username", flat=True))
    return one


def _spelt(span_s: int) -> str:
    for unit_s, name in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if span_s % unit_s == 0:
            return f"{span_s // unit_s} {name}"
    return f"{span_s} s"
