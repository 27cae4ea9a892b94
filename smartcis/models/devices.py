"""What brokers' devices publish: how an operator says it is read, and which devices were heard."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models

from aspen.motes.kinds import UnknownDevice
from smartcis.models.building import Unit
from smartcis.models.equipment import Machine
from smartcis.models.sensor_kinds import kind_named
from smartcis.models.wrapped import Source
from smartcis.readings.errors import BadUnit
from smartcis.readings.units import converted
from smartcis.wrappers.errors import BadConfig
from smartcis.wrappers.payloads.families import CHOICES, FIELDS
from smartcis.wrappers.payloads.mapping import FieldReader
from smartcis.wrappers.protocol import PayloadMapping

NAME_LENGTH = 200


class SourceMapping(models.Model):
    """How messages of some topics of a broker are read; see `PayloadMapping`."""

    TIME_FORMS = (
        ("arrival", "when it arrives"),
        ("iso", "ISO 8601"),
        ("s", "seconds since 1970"),
        ("ms", "milliseconds since 1970"),
    )

    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="mappings")
    topic = models.CharField(max_length=200)
    family = models.CharField(max_length=20, choices=CHOICES, default=FIELDS)
    path = models.CharField(max_length=200, blank=True)
    kind = models.CharField(max_length=40, blank=True)
    unit = models.CharField(max_length=20, blank=True)
    scale = models.FloatField(default=1.0)
    offset = models.FloatField(default=0.0)
    identity = models.CharField(max_length=200, blank=True)
    time_path = models.CharField(max_length=200, blank=True)
    time_form = models.CharField(max_length=10, choices=TIME_FORMS, default="arrival")
    enabled = models.BooleanField(default=True)

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"{self.topic}: {self.kind or self.family}"

    def said(self) -> PayloadMapping:
        """Returns it as its source's reader takes it."""
        names = [one.name for one in fields(PayloadMapping)]
        return PayloadMapping(**{name: getattr(self, name) for name in names})

    def clean(self) -> None:
        """Refuses what no reader could read, and units that do not become the kind's.

        Raises:
            ValidationError: in words an operator understands.
        """
        if None in (self.scale, self.offset):
            return  # the fields say so
        try:
            FieldReader(self.said())
            if self.family == FIELDS:
                converted(0.0, self.unit, kind_named(self.kind).unit)
        except (BadConfig, BadUnit, UnknownDevice) as fault:
            raise ValidationError(fault.render()) from fault


class SeenDevice(models.Model):
    """A device that a source heard, placed or not.

    Args:
        device: as its family knows it.
        name: its own, for people.
        quantities: by the key of the kind: sensor's id, value, unit, when it was measured.
        longest_s: the longest silence between two of its messages.
        unit: the room it was placed in.
        machine: the machine it was placed at.
    """

    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="devices")
    device = models.CharField(max_length=NAME_LENGTH)
    name = models.CharField(max_length=NAME_LENGTH, blank=True)
    quantities = models.JSONField(default=dict)
    first_s = models.FloatField()
    heard_s = models.FloatField(db_index=True)
    longest_s = models.FloatField(default=0.0)
    unit = models.ForeignKey(
        Unit,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="devices",
        verbose_name="room",
    )
    machine = models.ForeignKey(
        Machine, null=True, blank=True, on_delete=models.SET_NULL, related_name="devices"
    )

    class Meta:
        ordering = ("-heard_s", "pk")
        constraints = (models.UniqueConstraint(fields=("source", "device"), name="seen_once"),)
        verbose_name = "device that was heard"
        verbose_name_plural = "devices that were heard"

    def __str__(self) -> str:
        return self.name or self.device

    def sids(self) -> dict[str, str]:
        """Returns the sensors it would be, by quantity."""
        said: dict[str, dict[str, Any]] = self.quantities
        return {quantity: str(one["sid"]) for quantity, one in said.items()}
