"""The walking graph, to look at."""

from __future__ import annotations

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from smartcis.admin.marks import ReadOnly, simulated_mark
from smartcis.models import RoutingEdge, RoutingNode, Unit


@admin.register(RoutingNode)
class RoutingNodeAdmin(ReadOnly):
    """Points one can stand on; searched by the kiosk page's selector."""

    list_display = ("node", "kind", "name", "room", "level", "x_m", "y_m", simulated_mark)
    list_filter = ("kind", "level", "simulated")
    list_select_related = ("unit", "level")
    search_fields = ("=node", "name", "unit__rid", "unit__name")

    @admin.display(description=_("room"), ordering="unit")
    def room(self, node: RoutingNode) -> Unit:
        """Returns the room or corridor it is in."""
        return node.unit


@admin.register(RoutingEdge)
class RoutingEdgeAdmin(ReadOnly):
    """Steps between points."""

    list_display = ("__str__", "way", "length_mm", "step_free", "door", simulated_mark)
    list_filter = ("way", "step_free", "simulated")
    list_select_related = ("door",)
    raw_id_fields = ("src", "dst")
    search_fields = ("=src__node", "=dst__node", "door__door_id")
