"""Walking points: they keep their numbers while they stay in their unit.

So kiosks, machines and desks that stand on them keep their place.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import models

from smartcis.importers.derive import BuildingPlan
from smartcis.importers.geometry.walking_graph import GraphNode
from smartcis.importers.held import HeldPart, points
from smartcis.models import Desk, Kiosk, Machine, RoutingEdge, RoutingNode, Sensor
from smartcis.models.equal import Fields
from smartcis.models.source import PKS_AT_ONCE, batched

STANDING: tuple[tuple[type[models.Model], str], ...] = (
    (Machine, "node_id"),
    (Kiosk, "node_id"),
    (Desk, "node_id"),
    (Sensor, "node_id"),
)
FIRST_SIMULATED_NODE = 100_000  # desks and the like are numbered from here


def numbered(plan: BuildingPlan, part: HeldPart) -> Mapping[int, int]:
    """Assigns each derived point a number: the one it has, that of one that moved, or a fresh one.

    What stands on a point of a unit stays on the unit's nearest point of its kind, of any kind.
    """
    stored = {one.node: one for one in points(part)}
    rids = {node.number: plan.spaces[node.space].rid for node in plan.graph.nodes}
    numbers: dict[int, int] = {}
    exact: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for number, one in sorted(stored.items()):
        exact[one.unit_id, one.kind, one.x_m, one.y_m].append(number)
    for node in plan.graph.nodes:
        if there := exact[rids[node.number], node.kind, node.x_m, node.y_m]:
            numbers[node.number] = there.pop(0)
    used = _used_points()
    for same_kind in (True, False):
        kept = set(numbers.values())
        gone = [one for one in stored.values() if one.node not in kept]
        moved = _moved(
            [one for one in gone if same_kind or one.node in used],
            [one for one in plan.graph.nodes if one.number not in numbers],
            rids,
            same_kind=same_kind,
        )
        numbers.update(moved)
    every = RoutingNode.objects.filter(simulated=False)
    highest = every.aggregate(highest=models.Max("node"))["highest"] or 0
    for node in plan.graph.nodes:
        if node.number not in numbers:
            highest += 1
            numbers[node.number] = highest
    return numbers


def keep_standing(wanted: Mapping[int, Fields], part: HeldPart) -> list[str]:
    """Puts what stands on a point that goes onto the nearest of its unit that stays."""
    stays: dict[str, list[RoutingNode]] = defaultdict(list)
    goes: dict[int, RoutingNode] = {}
    for node in points(part):
        if node.node not in wanted:
            goes[node.node] = node
        elif wanted[node.node]["unit_id"] == node.unit_id:
            stays[node.unit_id].append(node)
    moved: list[str] = []
    for model, name in STANDING:
        for keys in batched(goes, PKS_AT_ONCE):
            for one in model._default_manager.filter(**{f"{name}__in": keys}):  # noqa: SLF001  # the documented way to a model's manager
                gone = goes[getattr(one, name)]
                near = min(
                    stays[gone.unit_id],
                    key=lambda node: math.dist((node.x_m, node.y_m), (gone.x_m, gone.y_m)),
                    default=None,
                )
                if near is not None:
                    rows = model._default_manager.filter(pk=one.pk)  # noqa: SLF001  # same
                    rows.update(**{name: near.node})
                    moved.append(str(one))
    return moved


def _used_points() -> set[int]:
    """Returns the points that something stands on or is reached from."""
    steps = RoutingEdge.objects.filter(simulated=True)
    return {
        *Machine.objects.values_list("node_id", flat=True),
        *Kiosk.objects.values_list("node_id", flat=True),
        *Desk.objects.values_list("node_id", flat=True),
        *Sensor.objects.values_list("node_id", flat=True),
        *steps.values_list("src_id", flat=True),
    }


def _moved(
    gone: Sequence[RoutingNode],
    fresh: Sequence[GraphNode],
    rids: Mapping[int, str],
    *,
    same_kind: bool,
) -> dict[int, int]:
    """Pairs points that went with new ones of their unit, the nearest first."""
    by_unit: dict[tuple[str, str], list[GraphNode]] = defaultdict(list)
    for node in fresh:
        by_unit[rids[node.number], node.kind if same_kind else ""].append(node)
    near = sorted(
        (math.dist((one.x_m, one.y_m), (node.x_m, node.y_m)), one.node, node.number)
        for one in gone
        for node in by_unit[one.unit_id, one.kind if same_kind else ""]
    )
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for _, number, fresh_number in near:
        if number not in taken and fresh_number not in pairs:
            pairs[fresh_number] = number
            taken.add(number)
    return pairs
