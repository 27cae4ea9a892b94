"""Slots: of what is kept in the database one may have so many, counted where it is made."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db.models import Manager, QuerySet

from smartcis.access.limits import BUSY_RETRY_S, bounds, refuse
from smartcis.access.owner import Owner
from smartcis.errors import QuotaReached
from smartcis.models.turns import take_turn

OWN = ("account", "browser")
COLUMNS = {"account": "user_id", "browser": "browser", "address": "address"}


def take_slot(kind: str, kept: Manager[Any] | QuerySet[Any], owner: Owner, attempt: str) -> None:
    """Refuses one more than one may have; no other is made until the transaction ends.

    Args:
        kind: a name of `settings.QUOTAS`.
        kept: all there are; by the columns `user_id`, `browser` and `address`.
        attempt: what helps.

    Raises:
        QuotaReached: they have as many as one may have.
        LimitReached: all at their address have, or all together; somebody may give one back.
    """
    limits = bounds(settings.QUOTAS[kind], owner, held=True)
    for number, bound in enumerate(limits):
        take_turn(f"{kind} of {bound.scope} {bound.key}")
        column = COLUMNS.get(bound.scope)
        held = (kept.filter(**{column: bound.key}) if column else kept.all()).count()
        if held < bound.at_most:
            continue
        if bound.scope in OWN:
            raise QuotaReached(
                f"you have {held} {kind}",
                found=str(held),
                exists=[f"up to {bound.at_most}"],
                attempt=attempt,
            )
        refuse(f"too many {kind} at once", limits, number, BUSY_RETRY_S, "at once")
