"""Described points: what a building's own description says of the devices of a source."""

from __future__ import annotations

from django.db import models

from smartcis.models.wrapped import Source


class DescribedPoint(models.Model):
    """A sensor of a Brick model, or of Haystack tags, whose device the source may hear.

    Args:
        point: its id in the description.
        names: under which a device may be heard.
        title: for people.
        kind: of sensor.
        measured_in: its unit, empty where none is said.
        rid: the room, empty where none was found, or several; a room may have gone since.
        equipment: what it belongs to.
    """

    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="points")
    point = models.CharField(max_length=500)
    names = models.JSONField(default=list)
    title = models.CharField(max_length=200)
    kind = models.CharField(max_length=40)
    measured_in = models.CharField(max_length=20, blank=True)
    rid = models.CharField(max_length=60, blank=True)
    equipment = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ("pk",)
        constraints = (models.UniqueConstraint(fields=("source", "point"), name="described_once"),)

    def __str__(self) -> str:
        return self.title
