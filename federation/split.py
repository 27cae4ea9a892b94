"""Border 6: federated plan → fragments, one per site that runs a piece of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from aspen.algebra.expr import Col, Expr, conjunction
from aspen.algebra.plan import (
    Filter,
    Plan,
    Project,
    Scan,
    Ship,
    children,
    map_children,
    nodes,
    relations_of,
)
from aspen.algebra.rewrite import rewrite
from aspen.algebra.rewrite.rules.project import DROP_IDENTITY, MERGE_PROJECTS
from federation.fragment import NetworkFragment
from federation.placement import FederatedPlan
from federation.sites import ENGINE

__all__ = ("EngineFragment", "Fragments", "NetworkFragment", "SensorFragment", "split")


TIDY = (MERGE_PROJECTS, DROP_IDENTITY)
"""What renaming answers leaves behind."""


@dataclass(frozen=True, slots=True)
class SensorFragment:
    """What the motes run for one device stream that is sent as it is measured.

    Args:
        stream: the relation they measure.
        plan: selections over its scan.
        predicate: all of them in one, None when every row is wanted; over `alias.column`.
    """

    site: str
    stream: str
    alias: str
    plan: Plan
    predicate: Expr | None


@dataclass(frozen=True, slots=True)
class EngineFragment:
    """What the engine runs.

    The selections motes may make on what they send as measured stay in its plan: they change
    nothing on rows that passed them already, and the answer holds also while another query still
    needs the whole stream. Of a network fragment it reads the answers.

    Args:
        receives: streams and answers that reach it over a border.
        reads: relations and views it finds in the log.
    """

    site: str
    plan: Plan
    receives: tuple[str, ...]
    reads: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fragments:
    """All fragments of one query."""

    network: tuple[NetworkFragment, ...]
    sensors: tuple[SensorFragment, ...]
    engine: EngineFragment


def split(federated: FederatedPlan) -> Fragments:
    """Cut a federated plan at its Ships.

    Law: the engine's plan has the rows of the logical plan, over all data, when each network
    fragment's relation has the rows of what it replaces.
    """
    found = {
        one.piece.fragment.replaces: one.piece.fragment
        for one in federated.pieces
        if one.piece is not None
    }
    ships = [node for node in nodes(federated.plan) if isinstance(node, Ship)]
    network = {found[one.child].name: found[one.child] for one in ships if one.child in found}
    sensors = tuple(_sensor_fragment(ship) for ship in ships if ship.child not in found)
    plan = _Engine(found).plan(federated.plan)
    if network:
        plan = rewrite(plan, TIDY)
    received = tuple(dict.fromkeys([*network, *(fragment.stream for fragment in sensors)]))
    reads = tuple(sorted(relations_of(plan) - set(received)))
    return Fragments(
        tuple(network.values()), sensors, EngineFragment(ENGINE, plan, received, reads)
    )


class _Engine:
    """Puts scans of answers instead of fragments, and leaves other borders out."""

    def __init__(self, fragments: Mapping[Plan, NetworkFragment]) -> None:
        self._fragments = fragments
        self._number = 0

    def plan(self, node: Plan) -> Plan:
        if isinstance(node, Ship):
            fragment = self._fragments.get(node.child)
            return self.plan(node.child) if fragment is None else self._answers(fragment)
        return map_children(node, self.plan)

    def _answers(self, fragment: NetworkFragment) -> Plan:
        self._number += 1
        alias = f"n{self._number}"
        columns = tuple(
            replace(column, name=f"{alias}.{column.name}") for column in fragment.relation.columns
        )
        scan = Scan(fragment.name, alias, columns)
        names = zip(fragment.replaces.columns, columns, strict=True)
        return Project(scan, tuple((wanted, Col(column.name)) for wanted, column in names))


def _sensor_fragment(ship: Ship) -> SensorFragment:
    predicates: list[Expr] = []
    node: Plan = ship.child
    while not isinstance(node, Scan):
        if isinstance(node, Filter):
            predicates.append(node.predicate)
        (node,) = children(node)
    joined = conjunction(reversed(predicates))
    return SensorFragment(ship.source, node.relation, node.alias, ship.child, joined)
