"""The walking graph: points one can stand on, and the steps between them."""

from __future__ import annotations

from collections.abc import Iterator

from django.db import models

from aspen.model.schema import Row
from smartcis.models.building import Door, Level, Unit
from smartcis.models.source import SourceModel


class RoutingNode(SourceModel):
    """A point one can stand on.

    Args:
        node: its number; imports keep it as long as the point stays.
        kind: centre, turn, door, opening, entrance or desk.
        simulated: made by the seed, not by the drawing.
    """

    KINDS = tuple(
        (kind, kind) for kind in ("centre", "turn", "door", "opening", "entrance", "desk")
    )

    relations = ("routing_node", "building_exit")
    attributes = {"rid": "unit_id"}

    node = models.BigIntegerField(primary_key=True)
    level = models.ForeignKey(Level, on_delete=models.CASCADE, related_name="nodes")
    unit = models.ForeignKey(Unit, on_delete=models.CASCADE, related_name="nodes")
    kind = models.CharField(max_length=10, choices=KINDS)
    name = models.CharField(max_length=100, blank=True)
    x_m = models.FloatField()
    y_m = models.FloatField()
    derived = models.BooleanField(default=True)
    simulated = models.BooleanField(default=False)

    class Meta(SourceModel.Meta):
        ordering = ("node",)
        verbose_name = "walking point"
        verbose_name_plural = "walking points"

    def __str__(self) -> str:
        return f"{self.node} {self.kind} of {self.unit_id}"

    def rows(self) -> Iterator[tuple[str, Row]]:
        """Returns the row of `routing_node`, and that of an exit where one leaves the building."""
        leads_out = self.kind == "entrance"
        return (row for row in super().rows() if leads_out or row[0] != "building_exit")


class RoutingEdge(SourceModel):
    """A step from one point to the next; the way back is a row of its own.

    Args:
        length_mm: walking equivalent: a lift counts its wait, a door its handle.
        door: the door it leads through.
    """

    WALK, DOOR, STAIRS, LIFT, ENTRANCE = "walk", "door", "stairs", "lift", "entrance"
    WAYS = tuple((way, way) for way in (WALK, DOOR, STAIRS, LIFT, ENTRANCE))

    relations = ("routing_edge", "riser_step")
    attributes = {"src": "src_id", "dst": "dst_id"}

    src = models.ForeignKey(RoutingNode, on_delete=models.CASCADE, related_name="leaving")
    dst = models.ForeignKey(RoutingNode, on_delete=models.CASCADE, related_name="arriving")
    length_mm = models.PositiveIntegerField()
    step_free = models.BooleanField(default=True)
    way = models.CharField(max_length=8, choices=WAYS, default=WALK)
    door = models.ForeignKey(
        Door, null=True, blank=True, on_delete=models.CASCADE, related_name="edges"
    )
    simulated = models.BooleanField(default=False)

    class Meta(SourceModel.Meta):
        constraints = (
            models.UniqueConstraint(fields=("src", "dst"), name="one_edge_per_direction"),
            models.CheckConstraint(condition=models.Q(length_mm__gte=1), name="edge_has_length"),
        )
        verbose_name = "step between points"
        verbose_name_plural = "steps between points"

    def __str__(self) -> str:
        return f"{self.src_id} → {self.dst_id}"

    def rows(self) -> Iterator[tuple[str, Row]]:
        """Returns the row of `routing_edge`, and one more where it leads to another floor."""
        climbs = self.way in (self.STAIRS, self.LIFT)
        return (row for row in super().rows() if climbs or row[0] != "riser_step")
