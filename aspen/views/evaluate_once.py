"""Evaluate once: the answer of a plan over rows that are at hand, by a circuit of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from aspen.algebra.plan import Plan
from aspen.model.delta import Delta
from aspen.model.schema import Relation
from aspen.views.circuit import Circuit
from aspen.views.compile import Compiler


def evaluate_once(
    plan: Plan, relations: Iterable[Relation], tables: Mapping[str, Delta] | None = None
) -> Delta:
    """Returns a plan's rows with their multiplicities.

    Args:
        relations: those that the plan scans.
        tables: their rows; one that is left out has none.

    Raises:
        CannotMaintain: the plan reads a stream.
    """
    circuit = Circuit()
    declared = {relation.name: relation for relation in relations}
    for name, rows in (tables or {}).items():
        circuit.pend(circuit.source(declared[name]), rows)
    circuit.settle(circuit.step())
    return Compiler(circuit, declared, lambda _identity, _window: None).build(plan).contents()
