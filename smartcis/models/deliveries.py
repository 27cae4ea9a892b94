"""What queries hand out: alarms that stand, calls to make, and what has been sent so far."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from smartcis.models.queries import MaintainedQuery
from smartcis.models.source import SourceModel


class Outlet(models.Model):
    """A query whose changes are handed out: `OUTPUT TO ALARM | WEBHOOK`.

    Args:
        outputs: `[kind, target]` of each output.
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
    """A row that has been handed out and not taken back; the fold of all that was sent."""

    outlet = models.ForeignKey(Outlet, on_delete=models.CASCADE, related_name="told")
    digest = models.CharField(max_length=64)
    row = models.JSONField()
    weight = models.IntegerField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("outlet", "digest"), name="told_once"),)

    def __str__(self) -> str:
        return f"{self.outlet_id} {self.weight} {self.row}"


class Delivery(models.Model):
    """One call to make: a row that came (weight above 0) or went.

    Args:
        key: idempotency key: the same however often the call is repeated.
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
    target = models.CharField(max_length=500)
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


class Alarm(SourceModel):
    """An alarm that stands: a row of a query with `OUTPUT TO ALARM`; it goes with the row.

    Args:
        target: which alarm, as the query spells it.
        message: the row in words.
    """

    relations = ("alarm",)
    attributes = {"alarm_id": "pk", "query": "outlet_id"}

    outlet = models.ForeignKey(Outlet, on_delete=models.CASCADE, related_name="alarms")
    digest = models.CharField(max_length=64)
    name = models.CharField(max_length=80)
    target = models.CharField(max_length=80, blank=True)
    message = models.CharField(max_length=500)
    raised_s = models.FloatField()

    class Meta(SourceModel.Meta):
        ordering = ("-raised_s", "pk")
        constraints = (
            models.UniqueConstraint(fields=("outlet", "digest", "target"), name="alarm_once"),
        )

    def __str__(self) -> str:
        return f"{self.name}: {self.message}"
