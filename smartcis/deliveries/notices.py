"""Notices: one call or e-mail for each step of an alarm, to those its rule names."""

from __future__ import annotations

from typing import Any

from aspen.results.protocol import Epoch, EpochSnapshot
from smartcis.deliveries.lifecycle import AlarmStep
from smartcis.models import Alarm, Delivery, Machine, Outlet, Unit
from smartcis.models.own_tables import digest_of

Moment = Epoch | EpochSnapshot
_ENDS = (AlarmStep.CLEARED, AlarmStep.HEARD)


def number_of(moment: Moment) -> int:
    """Returns the epoch's number."""
    return moment.number if isinstance(moment, Epoch) else moment.epoch


def notify(
    outlet: Outlet, alarm: Alarm, step: AlarmStep, targets: list[tuple[str, str]], moment: Moment
) -> None:
    """Has everybody told of a step, once, unless the alarm is muted.

    Args:
        targets: kind and address of each.
    """
    at_s = alarm.raised_s if alarm.cleared_s is None else alarm.cleared_s
    if alarm.muted_until_s is not None and alarm.muted_until_s > at_s:
        return
    for kind, target in targets:
        digest = digest_of([kind, target])[:16]
        Delivery.objects.get_or_create(
            key=f"alarm:{alarm.pk}:{step.name.lower()}:{digest}",
            defaults={
                "outlet": outlet,
                "kind": kind,
                "target": target,
                "alarm": body(alarm, step),
                "epoch": number_of(moment),
                "position": moment.position,
                "at_s": at_s,
                "row": [],
                "weight": -1 if step in _ENDS else 1,
            },
        )


def body(alarm: Alarm, step: AlarmStep) -> dict[str, Any]:
    """Returns what is said of an alarm's step."""
    places = {"rid": alarm.rid, "mid": alarm.mid, "door_id": alarm.door_id}
    return {
        "id": alarm.pk,
        "step": step.value,
        "title": alarm.title,
        "kind": alarm.kind,
        "severity": alarm.severity,
        "key": alarm.key,
        "message": alarm.message,
        "value": alarm.value,
        "unit": alarm.unit,
        "raised_s": alarm.raised_s,
        "cleared_s": alarm.cleared_s,
        "where": where(alarm),
        **{name: value or None for name, value in places.items()},
    }


def where(alarm: Alarm) -> str:
    """Returns what people call the place an alarm is about; empty where its row names none."""
    if alarm.mid:
        host = Machine.objects.filter(pk=alarm.mid).values_list("host", flat=True).first()
        return f"machine {host or alarm.mid}"
    if alarm.door_id:
        return f"door {alarm.door_id}"
    if alarm.rid:
        name = Unit.objects.filter(pk=alarm.rid).values_list("name", flat=True).first()
        return f"room {name or alarm.rid}"
    return ""
