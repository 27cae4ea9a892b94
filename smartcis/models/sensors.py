"""Sensors: what is measured where, and, for simulated ones, what they shall measure."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext as _

from aspen.model.schema import Row
from aspen.motes.kinds import DeviceKind, UnknownDevice
from sensors_sim.errors import BadParameters, UnknownWaveform
from sensors_sim.faults import FAULTS
from sensors_sim.waveforms import WAVEFORMS, checked
from smartcis.models.building import Level, Unit
from smartcis.models.equipment import Machine
from smartcis.models.routing import RoutingNode
from smartcis.models.sensor_kinds import CODED, between_seconds, keep_kind, kind_named
from smartcis.models.source import SourceModel
from smartcis.wrappers.pulse import dead_s


class Sensor(SourceModel):
    """A device that reports readings.

    Args:
        sid: its id in every reading.
        unit: the room it watches; follows from the machine when it has one.
        machine: the machine it watches, for seat and cpu.
        waveform: what a simulated sensor measures; `people` follows the simulated people.
        parameters: of the waveform, in the kind's unit.
        fault: what a simulated sensor gets wrong, empty for nothing.
        fault_amount: how much of it; None for the usual.
        period_s: seconds between readings; four times as long without one, it is silent, but not
            before its kind's readings are forgotten.
        updated_at: the simulator reloads a sensor whose time here has moved.
    """

    FAULT_CHOICES = tuple((key, fault.label) for key, fault in FAULTS.items())
    WAVEFORM_CHOICES = tuple((key, kind.label) for key, kind in WAVEFORMS.items())

    relations = ("sensor",)
    attributes = {"rid": "unit_id", "mid": "machine_id", "node": "node_id"}

    sid = models.CharField("id", primary_key=True, max_length=80)
    kind = models.CharField(max_length=40, db_index=True)
    unit = models.ForeignKey(
        Unit, on_delete=models.CASCADE, related_name="sensors", verbose_name="room"
    )
    machine = models.ForeignKey(
        Machine, null=True, blank=True, on_delete=models.CASCADE, related_name="sensors"
    )
    level = models.ForeignKey(Level, on_delete=models.CASCADE, related_name="sensors")
    node = models.ForeignKey(RoutingNode, on_delete=models.CASCADE, related_name="sensors")
    x_m = models.FloatField()
    y_m = models.FloatField()
    simulated = models.BooleanField(default=True)
    enabled = models.BooleanField(default=True)
    waveform = models.CharField(
        "simulated as", max_length=20, choices=WAVEFORM_CHOICES, default="constant"
    )
    parameters = models.JSONField(default=dict, blank=True)
    fault = models.CharField(max_length=10, choices=FAULT_CHOICES, blank=True, default="")
    fault_amount = models.FloatField(null=True, blank=True)
    period_s = models.FloatField("interval (s)", default=10.0)
    updated_at = models.DateTimeField(auto_now=True, db_index=True)

    class Meta(SourceModel.Meta):
        ordering = ("sid",)

    def __str__(self) -> str:
        return self.sid

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Places the sensor where its machine or room is if nobody placed it, then write it."""
        self.locate()
        keep_kind(self.kind)
        super().save(*args, **kwargs)

    def locate(self) -> None:
        """Fills in id, room, level, node and position from the machine or the room."""
        if self.machine is not None:
            self.unit_id = self.machine.unit_id
        if not self.unit_id:
            return
        moved = self.node_id is None or self.node.unit_id != self.unit_id
        if self.machine is not None and self.node_id != self.machine.node_id:
            self.node_id, self.x_m, self.y_m = (
                self.machine.node_id,
                self.machine.x_m,
                self.machine.y_m,
            )
        elif self.machine is None and moved:
            centre = self.unit.nodes.filter(kind="centre").first()
            if centre is None:
                raise ValidationError({"unit": _("%s has no walking point") % self.unit_id})
            self.node_id, self.x_m, self.y_m = centre.node, centre.x_m, centre.y_m
        self.level_id = self.unit.level_id
        if not self.sid:
            self.sid = self._fresh_sid()

    def rows(self) -> Iterator[tuple[str, Row]]:
        """Returns the row of `sensor`, and its interval where the views rest on it."""
        yield from super().rows()
        kept_s = CODED[self.kind].kept_s if self.kind in CODED else 0.0
        silent_s = dead_s(self.period_s)
        if self.enabled and silent_s > kept_s:
            yield "sensor_interval", (self.sid, self.period_s, silent_s)

    def _fresh_sid(self) -> str:
        stem = f"{self.machine_id or self.unit_id}.{self.kind}"
        taken = set(Sensor.objects.filter(sid__startswith=stem).values_list("sid", flat=True))
        if stem not in taken:
            return stem
        return next(name for n in range(2, len(taken) + 3) if (name := f"{stem}-{n}") not in taken)

    def clean(self) -> None:
        """Refuses what could not measure anything.

        Raises:
            ValidationError: per field, in words an operator understands.
        """
        faults: dict[str, str] = {}
        try:
            device = kind_named(self.kind)
        except UnknownDevice as fault:
            raise ValidationError({"kind": fault.message}) from fault
        if device.of_machine and self.machine_id is None:
            faults["machine"] = _("a sensor of this kind watches a machine: choose one")
        if not device.of_machine and self.machine_id is None and not self.unit_id:
            faults["unit"] = _("choose a room or a machine")
        if not math.isfinite(self.period_s) or not (
            device.least_period_s <= self.period_s <= device.greatest_period_s
        ):
            faults["period_s"] = between_seconds(device.least_period_s, device.greatest_period_s)
        if device.shared and self.simulated:
            faults["simulated"] = _("nothing simulates %s: untick it") % _(device.name)
        if said := self._wrong_fault(device):
            faults["fault_amount" if self.fault in FAULTS else "fault"] = said
        try:
            if self.simulated and not device.shared:
                self.parameters = checked(self.waveform, device, self.parameters or {})
        except (BadParameters, UnknownWaveform) as fault:
            faults["parameters"] = fault.message
        if faults:
            raise ValidationError(faults)

    def _wrong_fault(self, device: DeviceKind) -> str:
        """Fills in a fault's usual amount; returns what is wrong with it, empty for nothing."""
        if not self.fault:
            self.fault_amount = None
            return ""
        if not self.simulated or device.hears_tags:
            self.fault, known = "", self.fault
            said = _("only a simulated sensor that measures a value can have the fault %s")
            return said % known
        fault = FAULTS.get(self.fault)
        if fault is None:
            said = _("there is no fault %(found)s; there are %(all)s")
            return said % {"found": self.fault, "all": ", ".join(FAULTS)}
        if self.fault_amount is None:
            self.fault_amount = fault.usual
        least = 0.0 if fault.key == "dropout" else -fault.greatest
        if not least <= self.fault_amount <= fault.greatest:
            ends = {"what": _(fault.amount), "least": least, "greatest": fault.greatest}
            return _("%(what)s: between %(least)g and %(greatest)g") % ends
        return ""


class RegionSeed(SourceModel):
    """A sensor from which a contiguous region of triggered sensors grows."""

    relations = ("region_seed",)
    attributes = {"sid": "sensor_id"}

    region_id = models.CharField(max_length=40)
    sensor = models.ForeignKey(Sensor, on_delete=models.CASCADE, related_name="seeds")
    simulated = models.BooleanField(default=True)

    class Meta(SourceModel.Meta):
        ordering = ("region_id", "sensor")
        constraints = (models.UniqueConstraint(fields=("region_id", "sensor"), name="seeded_once"),)
        verbose_name = "start of an active region"
        verbose_name_plural = "starts of active regions"

    def __str__(self) -> str:
        return f"{self.region_id} from {self.sensor_id}"
