"""End an alarm about no data: what it was about is gone for good."""

from __future__ import annotations

import structlog
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_noop

from smartcis.access.owner import Owner
from smartcis.errors import Conflict
from smartcis.models import Alarm, AlarmEvent, Outlet, WatchedKey
from smartcis.models.alarms import STANDING
from smartcis.models.lookup import found

logger = structlog.get_logger(__name__)


@transaction.atomic
def end_alarm(alarm_id: int, owner: Owner) -> None:
    """Ends an alarm about no data, and what else stands of the same key; it is watched no more.

    Should data come after all, it is watched again.

    Raises:
        Refused: the owner is no staff.
        NotFound: no such alarm.
        Conflict: it was cleared, or it is about a value that is still measured.
    """
    owner.require_staff("end alarms")
    alarm = found(Alarm, alarm_id, "alarm")
    if alarm.cleared_s is not None or alarm.kind != Alarm.Kind.NO_DATA:
        raise Conflict(
            "only an alarm about no data is ended by hand",
            found=str(alarm_id),
            attempt="acknowledge or mute it; it is cleared when its value says so",
        )
    # Whoever takes in what the engine says waits for this, or this for him.
    Outlet.objects.select_for_update().filter(pk=alarm.outlet_id).first()
    mine = {"outlet_id": alarm.outlet_id, "target": alarm.target, "digest": alarm.digest}
    now_s = timezone.now().timestamp()
    for one in Alarm.objects.filter(STANDING, **mine):
        one.cleared_s = now_s
        one.save(update_fields=["cleared_s"])
        AlarmEvent.objects.create(
            alarm=one, at_s=now_s, what=gettext_noop("ended by hand"), account=owner.account
        )
    WatchedKey.objects.filter(**mine).delete()
    logger.info("alarm_ended", alarm=alarm_id, account=owner.account)
