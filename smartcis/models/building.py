"""The building as drawn: venue, buildings, levels, units, doors, entrances.

Positions are metres, x east and y north of the venue's south-west corner. Outlines are lists of
rings, the outer one first, each ring a list of [x, y].
"""

from __future__ import annotations

import time
from typing import Any

from django.db import models

from smartcis.models.source import SourceModel


class Venue(models.Model):
    """What is shown as one: a campus, a house.

    Args:
        attribution: whom the drawing is owed to; shown on every map.
        origin_lon_deg: longitude of x = 0.
        origin_lat_deg: latitude of y = 0.
    """

    slug = models.SlugField(primary_key=True, max_length=60)
    name = models.CharField(max_length=200)
    attribution = models.CharField(max_length=300, blank=True)
    origin_lon_deg = models.FloatField()
    origin_lat_deg = models.FloatField()

    def __str__(self) -> str:
        return self.name


OUTDOORS = "~outdoors"
"""Stands for the drawing of what no file draws: the ways between buildings."""


class Building(models.Model):
    """One house of a venue.

    Args:
        drawing: the file it was added with, by its slug; empty for the venue's own.
        attribution: whom that drawing is owed to; empty for the venue's own.
    """

    feature_id = models.CharField(primary_key=True, max_length=64)
    venue = models.ForeignKey(Venue, on_delete=models.CASCADE, related_name="buildings")
    name = models.CharField(max_length=200, blank=True)
    footprint = models.JSONField(default=list, blank=True)
    drawing = models.CharField(max_length=60, blank=True, default="", editable=False)
    attribution = models.CharField(max_length=300, blank=True, default="")

    class Meta:
        ordering = ("name", "feature_id")

    def __str__(self) -> str:
        return self.name or self.feature_id


class Level(SourceModel):
    """A floor, through all buildings of the venue.

    Args:
        level_id: `L` and the ordinal.
        ordinal: 0 at the ground; fractions are mezzanines.
        outline: a list of polygons, each a list of rings.
        edited: fields that people changed, and imports leave alone.
    """

    relations = ("level",)

    level_id = models.CharField("floor id", primary_key=True, max_length=16)
    venue = models.ForeignKey(Venue, on_delete=models.CASCADE, related_name="levels")
    feature_id = models.CharField(max_length=64)
    ordinal = models.FloatField()
    name = models.CharField(max_length=100)
    short_name = models.CharField(max_length=20)
    outline = models.JSONField(default=list)
    edited = models.JSONField(default=list, blank=True, editable=False)

    class Meta(SourceModel.Meta):
        ordering = ("ordinal",)
        verbose_name = "floor"
        verbose_name_plural = "floors"

    def __str__(self) -> str:
        return self.name


class Unit(SourceModel):
    """A room, corridor, staircase or lift on one level.

    Args:
        rid: what people call it where that is unique, safe in a URL.
        feature_id: of the imported file; empty for a derived corridor.
        polygon: rings of its largest piece.
        derived: concluded from a gap instead of drawn.
        drawing: the file it was added with, by its slug; empty for the venue's own.
        unreached: why no entrance leads to it; empty when one does.
        edited: fields that people changed, and imports leave alone.
    """

    relations = ("room", "room_point")
    attributes = {"x_m": "label_x_m", "y_m": "label_y_m"}

    rid = models.CharField("number", primary_key=True, max_length=60)
    level = models.ForeignKey(Level, on_delete=models.CASCADE, related_name="units")
    feature_id = models.CharField(max_length=64, blank=True)
    name = models.CharField(max_length=200, blank=True)
    category = models.CharField(max_length=40)
    polygon = models.JSONField(default=list)
    ground = models.JSONField(default=list)
    label_x_m = models.FloatField()
    label_y_m = models.FloatField()
    area_m2 = models.FloatField()
    derived = models.BooleanField(default=False)
    unreached = models.CharField(max_length=200, blank=True)
    drawing = models.CharField(max_length=60, blank=True, default="", editable=False)
    edited = models.JSONField(default=list, blank=True, editable=False)

    class Meta(SourceModel.Meta):
        ordering = ("level", "rid")
        verbose_name = "room or corridor"
        verbose_name_plural = "rooms and corridors"

    def __str__(self) -> str:
        return f"{self.name} ({self.rid})" if self.name and self.name != self.rid else self.rid


class Door(SourceModel):
    """A door on the wall between two units.

    Args:
        inner: the unit it closes.
        outer: the unit it opens from.
        since_s: when its state last changed, s since 1970.
        derived: concluded from a shared wall instead of drawn.
    """

    OPEN, LOCKED = "open", "locked"
    STATES = ((OPEN, "open"), (LOCKED, "locked"))

    relations = ("door",)

    door_id = models.CharField("door", primary_key=True, max_length=70)
    level = models.ForeignKey(Level, on_delete=models.CASCADE, related_name="doors")
    inner = models.ForeignKey(Unit, on_delete=models.CASCADE, related_name="doors")
    outer = models.ForeignKey(Unit, on_delete=models.CASCADE, related_name="doors_into_others")
    x_m = models.FloatField()
    y_m = models.FloatField()
    state = models.CharField(max_length=8, choices=STATES, default=OPEN)
    since_s = models.FloatField(default=time.time, editable=False)
    derived = models.BooleanField(default=True)

    class Meta(SourceModel.Meta):
        ordering = ("level", "door_id")

    def __str__(self) -> str:
        return self.door_id

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Saves the door; with another state, since now."""
        only = kwargs.get("update_fields")
        stored = Door.objects.filter(pk=self.pk).values_list("state", flat=True).first()
        if stored not in (None, self.state) and (only is None or "state" in only):
            self.since_s = time.time()
            if only is not None:
                kwargs["update_fields"] = {*only, "since_s"}
        super().save(*args, **kwargs)
