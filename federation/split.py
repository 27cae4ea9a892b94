"""Border 6: federated plan → fragments, one per site that runs a piece of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from aspen.algebra.explain import plan_text
from aspen.algebra.expr import Expr, conjunction
from aspen.algebra.plan import Filter, Plan, Scan, Ship, children, relations_of
from federation.place import FederatedPlan, strip_ships


@dataclass(frozen=True, slots=True)
class SensorFragment:
    """What the motes run for one device stream of one query.

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

    The selections that motes may make stay in its plan: they change nothing on rows that passed
    them already, and the answer holds also while another query still needs the whole stream.

    Args:
        receives: streams that reach it over a border.
        reads: relations and views it finds in the log.
    """

    site: str
    plan: Plan
    receives: tuple[str, ...]
    reads: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fragments:
    """All fragments of one query."""

    sensors: tuple[SensorFragment, ...]
    engine: EngineFragment

    @property
    def text(self) -> str:
        """Print every fragment as plan text under its site."""
        pieces = [
            f"{fragment.site}: {fragment.stream} as {fragment.alias}\n{plan_text(fragment.plan)}"
            for fragment in self.sensors
        ]
        receives = ", ".join(self.engine.receives) or "nothing"
        reads = ", ".join(self.engine.reads) or "nothing"
        head = f"{self.engine.site}: receives {receives}; reads {reads}"
        return "\n".join([*pieces, f"{head}\n{plan_text(self.engine.plan)}"])


def split(federated: FederatedPlan) -> Fragments:
    """Cut a federated plan at its Ships.

    Law: the engine's plan has the rows of the logical plan, over all data.
    """
    sensors = tuple(_sensor_fragment(ship) for ship in _ships(federated.plan))
    plan = strip_ships(federated.plan)
    received = tuple(dict.fromkeys(fragment.stream for fragment in sensors))
    reads = tuple(sorted(relations_of(plan) - set(received)))
    return Fragments(sensors, EngineFragment("engine", plan, received, reads))


def _ships(plan: Plan) -> Iterator[Ship]:
    if isinstance(plan, Ship):
        yield plan
    for child in children(plan):
        yield from _ships(child)


def _sensor_fragment(ship: Ship) -> SensorFragment:
    predicates: list[Expr] = []
    node: Plan = ship.child
    while not isinstance(node, Scan):
        if isinstance(node, Filter):
            predicates.append(node.predicate)
        (node,) = children(node)
    joined = conjunction(reversed(predicates))
    return SensorFragment(ship.source, node.relation, node.alias, ship.child, joined)
