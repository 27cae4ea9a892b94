"""Alarms: what stands or stood, who has done what about it, and what is waiting to become one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models.signals import pre_delete
from django.dispatch import receiver
from django.utils import timezone
from django.utils.translation import gettext_noop

from aspen.model.schema import Row
from smartcis.models.deliveries import Outlet
from smartcis.models.source import SourceModel

STANDING = models.Q(cleared_s=None)


class WatchedKey(models.Model):
    """A key of an alarm that something is due for, or that nothing is known of.

    Args:
        target: which alarm of the query.
        digest: of the key.
        about: the key's columns and what was last shown of it.
        hot_s, cool_s, gone_s: as in `deliveries/lifecycle.py`.
        due_s: when the next step is; null for never.
    """

    outlet = models.ForeignKey(Outlet, on_delete=models.CASCADE, related_name="watched")
    target = models.CharField(max_length=80, blank=True)
    digest = models.CharField(max_length=64)
    about = models.JSONField()
    hot_s = models.FloatField(null=True)
    cool_s = models.FloatField(null=True)
    gone_s = models.FloatField(null=True)
    due_s = models.FloatField(null=True, db_index=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("outlet", "target", "digest"), name="watched_once"),
        )

    def __str__(self) -> str:
        return f"{self.outlet_id} {self.target} {self.about}"


class Alarm(SourceModel):
    """An alarm, from when it was raised; one that was cleared is history, and no row of `alarm`.

    Args:
        outlet: of the query that raises it; null once that was stopped.
        query: that query's id, kept for history.
        name: the query's name.
        target: which alarm of the query, as its text spells it.
        digest: of the key: what the alarm is about.
        key: the key's columns and their values.
        kind: whether a threshold was passed, or nothing is known of what was there.
        message: the row in words.
        value: what the threshold is about, in `unit`; null for an alarm without a number.
        rid, mid, door_id: the room, machine and door that the row names.
        raised_s, changed_s, cleared_s: log time; when it began, when its row last changed, when it
            ended.
        acknowledged_s: when somebody of the staff took note.
        muted_until_s: until when nobody is told of it.
    """

    class Kind(models.TextChoices):
        """What it says."""

        THRESHOLD = "threshold"
        NO_DATA = "no data"

    class Severity(models.TextChoices):
        """How bad it is."""

        INFO = "info"
        WARNING = "warning"
        CRITICAL = "critical"

    relations = ("alarm",)

    outlet = models.ForeignKey(
        Outlet, null=True, blank=True, on_delete=models.SET_NULL, related_name="alarms"
    )
    query = models.CharField(max_length=16)
    name = models.CharField(max_length=80)
    target = models.CharField(max_length=80, blank=True)
    digest = models.CharField(max_length=64, db_index=True)
    key = models.JSONField()
    kind = models.CharField(max_length=10, choices=Kind.choices, default=Kind.THRESHOLD)
    severity = models.CharField(max_length=10, choices=Severity.choices, default=Severity.WARNING)
    message = models.CharField(max_length=500)
    value = models.FloatField(null=True)
    unit = models.CharField(max_length=20, blank=True)
    rid = models.CharField("room", max_length=60, blank=True, db_index=True)
    mid = models.CharField("machine", max_length=60, blank=True)
    door_id = models.CharField("door", max_length=60, blank=True)
    raised_s = models.FloatField()
    changed_s = models.FloatField()
    cleared_s = models.FloatField(null=True, blank=True, db_index=True)
    acknowledged_s = models.FloatField(null=True, blank=True)
    acknowledged_by = models.CharField(max_length=150, blank=True)
    muted_until_s = models.FloatField(null=True, blank=True)
    assigned_to = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )

    class Meta(SourceModel.Meta):
        ordering = ("-raised_s", "-pk")
        constraints = (
            models.UniqueConstraint(
                fields=("outlet", "target", "digest", "kind"),
                condition=STANDING,
                name="alarm_stands_once",
            ),
        )

    def __str__(self) -> str:
        return f"{self.title}: {self.message}"

    @property
    def title(self) -> str:
        """What people call it."""
        return self.target or self.name

    def rows(self) -> Iterator[tuple[str, Row]]:
        """Returns the row of `alarm`, none once it was cleared."""
        if self.cleared_s is not None:
            return
        texts = (self.query, self.name, self.target, self.kind, self.severity, self.message)
        places = (self.rid or None, self.mid or None, self.door_id or None)
        done = (
            self.acknowledged_s is not None,
            self.muted_until_s,
            self.assigned_to_id is not None,
        )
        times = (self.raised_s, self.changed_s)
        yield "alarm", (self.pk, *texts, self.value, self.unit, *places, *times, *done)


class AlarmEvent(models.Model):
    """What happened to an alarm, or what somebody did about it.

    Args:
        at_s: log time of what happened; what people do has the time of their clock.
        what: raised, cleared, acknowledged, …
        account: who did it; empty for what happened by itself.
        whom: whose the alarm was made; empty for anything else.
    """

    alarm = models.ForeignKey(Alarm, on_delete=models.CASCADE, related_name="events")
    at_s = models.FloatField()
    what = models.CharField(max_length=120)
    account = models.CharField(max_length=150, blank=True)
    whom = models.CharField(max_length=150, blank=True)

    class Meta:
        ordering = ("at_s", "pk")

    def __str__(self) -> str:
        return f"{self.alarm_id}: {self.what}"


@receiver(pre_delete, sender=Outlet)
def end_alarms(instance: Outlet, **_: Any) -> None:
    """Ends the alarms of a query that is stopped; what they were stays as history."""
    standing = Alarm.objects.filter(STANDING, outlet=instance)
    now_s = timezone.now().timestamp()
    AlarmEvent.objects.bulk_create(
        AlarmEvent(alarm=one, at_s=now_s, what=gettext_noop("its query was stopped"))
        for one in standing
    )
    standing.update(cleared_s=now_s)
