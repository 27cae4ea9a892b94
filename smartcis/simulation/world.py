"""World: what the tables describe, as the plain descriptions the kernel takes."""

from __future__ import annotations

from collections import defaultdict

from django.db.models import Count, Max

from aspen.motes.kinds import device_kind
from sensors_sim.world import PathEdge, SensorSpec, Spot, VisitorSpec, World
from smartcis.models import (
    Door,
    MaintainedView,
    Placement,
    RoutingEdge,
    RoutingNode,
    Sensor,
    Visitor,
)
from smartcis.simulation.deployment import awake

Version = tuple[object, ...]


def version() -> Version:
    """Returns a value that changes when anything the simulator follows may have changed."""
    sensors = Sensor.objects.aggregate(Max("updated_at"), Count("sid"))
    visitors = Visitor.objects.aggregate(Max("updated_at"), Count("tag"))
    views = MaintainedView.objects.aggregate(Max("order"), Count("name"))
    placed = Placement.objects.aggregate(Max("decided_at"), Max("since"), Count("view"))
    parts = (sensors, visitors, views, placed)
    return (*(value for one in parts for value in one.values()), locked_doors(), awake())


def locked_doors() -> frozenset[str]:
    """Returns the doors nobody passes."""
    return frozenset(Door.objects.filter(state=Door.LOCKED).values_list("door_id", flat=True))


def sensor_specs() -> dict[str, SensorSpec]:
    """Describes the simulated sensors that are switched on."""
    stored = Sensor.objects.filter(simulated=True, enabled=True).order_by("sid")
    specs = {}
    for one in stored.select_related(None):
        if device_kind(one.kind).of_machine and not one.machine_id:
            continue
        specs[one.sid] = SensorSpec(
            sid=one.sid,
            kind=one.kind,
            node=one.node_id,
            level=one.level_id,
            x_m=one.x_m,
            y_m=one.y_m,
            waveform=one.waveform,
            parameters=one.parameters,
            period_s=one.period_s,
            mid=one.machine_id or "",
            fault=one.fault,
            fault_amount=one.fault_amount or 0.0,
        )
    return specs


def visitor_specs() -> dict[str, VisitorSpec]:
    """Describes the simulated visitors who are about."""
    stored = Visitor.objects.filter(simulated=True, enabled=True).order_by("tag")
    return {one.tag: VisitorSpec(one.tag, one.speed_m_s) for one in stored}


def world() -> World:
    """Describes everything."""
    spots = {
        node: Spot(level, x_m, y_m)
        for node, level, x_m, y_m in RoutingNode.objects.order_by("node").values_list(
            "node", "level_id", "x_m", "y_m"
        )
    }
    steps: dict[int, list[PathEdge]] = defaultdict(list)
    edges = RoutingEdge.objects.filter(simulated=False, src__unit__unreached="")
    for src, dst, length_mm, door_id in edges.order_by("src", "dst").values_list(
        "src_id", "dst_id", "length_mm", "door_id"
    ):
        steps[src].append(PathEdge(dst, length_mm, door_id or ""))
    return World(
        sensors=tuple(sensor_specs().values()),
        visitors=tuple(visitor_specs().values()),
        spots=spots,
        steps={src: tuple(leaving) for src, leaving in steps.items()},
        locked=locked_doors(),
    )
