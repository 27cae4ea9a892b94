"""Sampled: the parts of a plan that hold the newest row of every device, so an epoch can give them.

    Filter s.weight_kg < 5.0                 own: motes check it on each sample
      Window by s.mid rows 1 range 120.0     one row per device, as an epoch has
        Scan seat_reading as s … stream

Law: when all devices sample at one time, the part's rows are those of its selections and
projections over the samples, without the window.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aspen.algebra.block import block_of
from aspen.algebra.expr import Col, Expr, columns_in, conjunction, conjuncts, substitute
from aspen.algebra.plan import Filter, Plan, Project, Scan, Window
from aspen.algebra.renaming import filtered
from aspen.model.catalog import Catalog
from aspen.model.schema import Relation
from aspen.motes.protocol import LEAST_PERIOD_S
from federation.sites import SensorSite, simple


@dataclass(frozen=True, slots=True)
class Sampled:
    """A part of a plan that epochs can give.

    Args:
        kept: the part without the selections motes cannot make.
        columns: what each of its columns is, over the scan's.
        own: selections motes make, over the scan's columns.
        rest: selections the engine makes, over the part's columns.
    """

    scan: Scan
    relation: Relation
    window: Window
    kept: Plan
    columns: Mapping[str, Expr]
    own: Expr | None
    rest: tuple[Expr, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """The part's columns that tell devices apart; empty if it dropped one."""
        wanted = {f"{self.scan.alias}.{name}" for name in self.relation.key}
        found = {
            value.name: name
            for name, value in reversed(list(self.columns.items()))
            if isinstance(value, Col) and value.name in wanted
        }
        return tuple(sorted(found.values())) if len(found) == len(wanted) else ()


def sampled(node: Plan, catalog: Catalog, network: SensorSite) -> Sampled | str:
    """Read a part of a plan as one that epochs can give.

    Returns:
        The part, or why not in one clause; empty if no device stream is below.
    """
    rest: tuple[Expr, ...] = ()
    inner: Plan = node
    if isinstance(node, Filter):
        rest = tuple(one for one in conjuncts(node.predicate) if not simple(one))
        inner = filtered(node.child, (one for one in conjuncts(node.predicate) if simple(one)))
    block = block_of(inner, lambda plan: not isinstance(plan, Filter | Project))
    bottom = block.inputs[0].plan
    if isinstance(bottom, Scan):
        return _unwindowed(bottom, catalog)
    if not isinstance(bottom, Window):
        return ""
    below = _window_refusal(bottom, catalog, network)
    if isinstance(below, str):
        return below
    scan, relation = below
    names = block.own_names
    where = [substitute(one, names) for one in block.conditions]
    columns = {
        column.name: substitute(value, names)
        for column, value in zip(block.columns, block.outputs, strict=True)
    }
    if not all(map(simple, where)):
        return "motes compute comparisons and plain arithmetic, no functions"
    missing = {name for one in where for name in columns_in(one)} & unknown_to(scan, network)
    if missing:
        return f"motes' answers carry no {', '.join(sorted(missing))}"
    return Sampled(scan, relation, bottom, inner, columns, conjunction(where), rest)


def unknown_to(scan: Scan, network: SensorSite) -> frozenset[str]:
    """Returns a scan's columns that no answer carries."""
    return frozenset(f"{scan.alias}.{name}" for name in network.unknown)


def _unwindowed(scan: Scan, catalog: Catalog) -> str:
    if scan.stream and scan.relation in catalog and catalog.get(scan.relation).device:
        return "every measurement counts, not the newest of each device"
    return ""


def _window_refusal(
    window: Window, catalog: Catalog, network: SensorSite
) -> tuple[Scan, Relation] | str:
    scan: Plan = window.child
    while isinstance(scan, Filter | Project):
        scan = scan.child
    if not isinstance(scan, Scan) or not scan.stream or scan.relation not in catalog:
        return ""
    relation = catalog.get(scan.relation)
    if not relation.device:
        return ""
    refusal = network.sampling_refusal(relation)
    if refusal:
        return refusal
    if scan is not window.child:
        return "a selection below its window decides which row is the newest"
    key = {f"{scan.alias}.{name}" for name in relation.key}
    if window.rows != 1 or {*window.partition_by} != key or window.bounds.moves_itself:
        by = ", ".join(relation.key)
        return f"its window is not the newest row of each device: [PARTITION BY {by} ROWS 1]"
    if window.range_s is not None and window.range_s < LEAST_PERIOD_S:
        return f"its rows last {window.range_s:g} s, an epoch takes {LEAST_PERIOD_S:g} s at least"
    return scan, relation
