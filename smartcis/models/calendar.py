"""The calendar: which room is booked when."""

from __future__ import annotations

from collections.abc import Iterator

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext as _

from aspen.model.schema import Row
from smartcis.models.building import Unit
from smartcis.models.source import SourceModel


class Reservation(SourceModel):
    """A room, booked from `start` until before `end`.

    Args:
        source: the calendar it came from, none for one entered here.
        uid: its event and occurrence in that calendar.
    """

    relations = ("reservation",)

    unit = models.ForeignKey(
        Unit, on_delete=models.CASCADE, related_name="reservations", verbose_name="room"
    )
    start = models.DateTimeField(db_index=True)
    end = models.DateTimeField(db_index=True)
    title = models.CharField(max_length=200)
    simulated = models.BooleanField(default=False)
    source = models.ForeignKey(
        "Source", null=True, blank=True, on_delete=models.CASCADE, related_name="reservations"
    )
    uid = models.CharField(max_length=300, blank=True)

    class Meta(SourceModel.Meta):
        ordering = ("start", "unit")
        constraints = (
            models.CheckConstraint(
                condition=models.Q(end__gt=models.F("start")), name="reservation_has_duration"
            ),
        )

    def __str__(self) -> str:
        return f"{self.unit_id}: {self.title}"

    def clean(self) -> None:
        """Refuses a reservation that ends before it begins."""
        if self.start and self.end and self.end <= self.start:
            raise ValidationError({"end": _("must be later than the start")})

    def rows(self) -> Iterator[tuple[str, Row]]:
        """Returns the row of `reservation`."""
        yield (
            "reservation",
            (self.pk, self.unit_id, self.start.timestamp(), self.end.timestamp(), self.title),
        )
