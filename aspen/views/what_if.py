"""What-if: a view's change if base rows came or went, by a dry epoch.

    circuit    ── epoch with the changes ──►  ── epoch with their inverse ──►  as before
    watched         its delta: the answer             the answer's inverse

Law:        rows, indexes, groups, tables and their order are afterwards what they were. Which of
            several derivations a row of a recursion rests on may be another; no row shows that.
Algorithm:  own. A change and its inverse cost what two ordinary changes cost: no view is copied,
            none rebuilt, unless it reads a relation that promised to keep its rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aspen.errors import AspenError
from aspen.model.delta import Delta, negate
from aspen.views.circuit import Circuit
from aspen.views.node import Node
from aspen.views.operators.scan import ScanOperator
from aspen.views.operators.window import WindowOperator

Leaf = ScanOperator | WindowOperator


class HypotheticalFailed(AspenError, code="aspen.views.cannot_suppose"):
    """A hypothetical update under which a view cannot be maintained."""


@dataclass(frozen=True, slots=True)
class HypotheticalDelta:
    """What a dry epoch showed.

    Args:
        delta: the watched node's; meaningless when it failed.
        failed: nodes that could not process the change or its inverse. They have left the
            circuit's index; who uses them must build them anew.
    """

    delta: Delta
    failed: tuple[Node, ...]


def hypothetical(
    circuit: Circuit, changes: Mapping[Leaf, Delta], watched: Node
) -> HypotheticalDelta:
    """Returns a node's delta under changes of base rows, and leave the circuit as it was.

    Args:
        circuit: between two epochs.
        changes: per leaf; no row may go that is not there.
        watched: any node of the circuit.
    """
    orders = {leaf: dict(leaf.table) for leaf in changes if isinstance(leaf, ScanOperator)}
    failed: list[Node] = []
    delta = _epoch(circuit, changes, watched, failed)
    _epoch(circuit, {leaf: negate(moves) for leaf, moves in changes.items()}, watched, failed)
    for scan, table in orders.items():
        # The same rows in the order they had: a snapshot spells them in this order.
        scan.table.clear()
        scan.table.update(table)
    return HypotheticalDelta(delta, tuple(failed))


def _epoch(
    circuit: Circuit, changes: Mapping[Leaf, Delta], watched: Node, failed: list[Node]
) -> Delta:
    for leaf, moves in changes.items():
        if moves:
            circuit.pend(leaf, moves)
    moved = circuit.step()
    failed += [node for node in moved if node.failure is not None]
    delta = dict(watched.delta)
    circuit.settle(moved)
    return delta
