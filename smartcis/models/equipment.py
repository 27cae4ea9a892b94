"""What stands in the rooms: desks, machines with their software, kiosks."""

from __future__ import annotations

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from smartcis.models.building import Unit
from smartcis.models.routing import RoutingNode
from smartcis.models.source import SourceModel


class Desk(models.Model):
    """A fixture one sits down at; no relation of its own, its machine has one."""

    desk_id = models.CharField(primary_key=True, max_length=70)
    unit = models.ForeignKey(
        Unit, on_delete=models.CASCADE, related_name="desks", verbose_name="room"
    )
    node = models.ForeignKey(
        RoutingNode, on_delete=models.CASCADE, related_name="desks", verbose_name="walking point"
    )
    x_m = models.FloatField()
    y_m = models.FloatField()
    simulated = models.BooleanField(default=True)

    class Meta:
        ordering = ("desk_id",)

    def __str__(self) -> str:
        return self.desk_id


class Machine(SourceModel):
    """A computer people sit down at.

    Args:
        node: the walking point beside it.
        cpu_type: as the inventory says; shown, not queried.
    """

    relations = ("machine",)
    attributes = {"rid": "unit_id", "node": "node_id", "level_id": "unit.level_id"}
    rows_need = ("unit",)

    mid = models.CharField("id", primary_key=True, max_length=70)
    host = models.CharField(max_length=100)
    unit = models.ForeignKey(
        Unit, on_delete=models.CASCADE, related_name="machines", verbose_name="room"
    )
    node = models.ForeignKey(
        RoutingNode, on_delete=models.PROTECT, related_name="machines", verbose_name="walking point"
    )
    desk = models.OneToOneField(
        Desk, null=True, blank=True, on_delete=models.SET_NULL, related_name="machine"
    )
    x_m = models.FloatField()
    y_m = models.FloatField()
    cpu_type = models.CharField("processor", max_length=100, blank=True)
    simulated = models.BooleanField(default=True)

    class Meta(SourceModel.Meta):
        ordering = ("mid",)

    def __str__(self) -> str:
        return f"{self.host} ({self.mid})"


class SoftwareInstall(SourceModel):
    """One program on one machine.

    Args:
        source: the list page it came from, none for one entered here.
    """

    relations = ("machine_software",)
    attributes = {"mid": "machine_id"}

    machine = models.ForeignKey(Machine, on_delete=models.CASCADE, related_name="software")
    software = models.CharField(max_length=120, db_index=True)
    simulated = models.BooleanField(default=True)
    source = models.ForeignKey(
        "Source", null=True, blank=True, on_delete=models.CASCADE, related_name="software"
    )

    class Meta(SourceModel.Meta):
        ordering = ("machine", "software")
        constraints = (
            models.UniqueConstraint(fields=("machine", "software"), name="installed_once"),
        )
        verbose_name = "program on a machine"
        verbose_name_plural = "programs on machines"

    def __str__(self) -> str:
        return f"{self.software} on {self.machine_id}"


class Kiosk(SourceModel):
    """A screen on a wall where people ask their way.

    Args:
        bearing_deg: where people look who stand before it, clockwise from the plan's north; None
            leaves the plan as it is drawn.
        query: what it shows instead of the plan.
    """

    relations = ("kiosk",)
    attributes = {
        "node": "node_id",
        "level_id": "node.level_id",
        "x_m": "node.x_m",
        "y_m": "node.y_m",
    }
    rows_need = ("node",)

    kiosk_id = models.SlugField("id", primary_key=True, max_length=60)
    name = models.CharField(max_length=100)
    node = models.ForeignKey(
        RoutingNode, on_delete=models.PROTECT, related_name="kiosks", verbose_name="walking point"
    )
    bearing_deg = models.FloatField(
        "bearing (°)",
        null=True,
        blank=True,
        validators=(MinValueValidator(0.0), MaxValueValidator(360.0)),
    )
    simulated = models.BooleanField(default=True)
    query = models.ForeignKey(
        "MaintainedQuery",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="kiosks",
    )

    class Meta(SourceModel.Meta):
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name
