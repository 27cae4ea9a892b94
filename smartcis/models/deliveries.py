"""What queries hand out: what has been sent so far, and calls and e-mails to make."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from smartcis.models.queries import MaintainedQuery


class Outlet(models.Model):
    """A query whose changes are handed out: `OUTPUT TO ALARM | WEBHOOK`.

    Args:
        outputs: `[kind, target, rule]` of each output; an alarm's rule as
            `aspen.streamsql.alarm_rule` writes it, null for a webhook.
        epoch: the last one whose changes are in `told`; null: to be compared as a whole.
    """

    query = models.OneToOneField(
        MaintainedQuery, on_delete=models.CASCADE, primary_key=True, related_name="outlet"
    )
    outputs = models.JSONField()
    epoch = models.BigIntegerField(null=True)

    def __str__(self) -> str:
        return f"{self.query_id}: {self.outputs}"


class ToldRow(models.Model):
    """A row that has been handed out and not taken back; the fold of all that was sent.

    Args:
        key: digest of what its alarms are about; empty where the query raises none.
    """

    outlet = models.ForeignKey(Outlet, on_delete=models.CASCADE, related_name="told")
    digest = models.CharField(max_length=64)
    key = models.CharField(max_length=64, blank=True, default="")
    row = models.JSONField()
    weight = models.IntegerField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("outlet", "digest"), name="told_once"),)
        indexes = (models.Index(fields=("outlet", "key"), name="told_by_key"),)

    def __str__(self) -> str:
        return f"{self.outlet_id} {self.weight} {self.row}"


class Delivery(models.Model):
    """One call or e-mail to make: a row that came (weight above 0) or went, or an alarm's step.

    Args:
        key: idempotency key: the same however often the call is repeated.
        kind: WEBHOOK, or EMAIL, whose target is an address.
        alarm: what an alarm's step says of it, as `deliveries/notices.py` says it; null for rows.
        epoch: in which the row came or went.
        due_at: not before; null once it is settled.
        fault: why the last attempt failed, empty otherwise.
    """

    class State(models.TextChoices):
        """What has become of it."""

        PENDING = "pending"
        DELIVERED = "delivered"
        GIVEN_UP = "given_up"

    outlet = models.ForeignKey(Outlet, on_delete=models.CASCADE, related_name="deliveries")
    key = models.CharField(max_length=120, unique=True)
    kind = models.CharField(max_length=10, default="WEBHOOK")
    target = models.CharField(max_length=500)
    alarm = models.JSONField(null=True)
    epoch = models.BigIntegerField()
    position = models.BigIntegerField()
    at_s = models.FloatField()
    row = models.JSONField()
    weight = models.IntegerField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.PENDING)
    attempts = models.IntegerField(default=0)
    due_at = models.DateTimeField(default=timezone.now, null=True, db_index=True)
    settled_at = models.DateTimeField(null=True)
    fault = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ("pk",)
        verbose_name_plural = "deliveries"

    def __str__(self) -> str:
        return f"{self.key} {self.state}"
