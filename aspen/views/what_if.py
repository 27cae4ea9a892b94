"""What-if: a view's change if base rows came or went, by a dry epoch.

    circuit    ── epoch with the changes ──►  ── epoch with their inverse ──►  as before
    watched         its delta: the answer             the answer's inverse

Law:        rows, indexes, groups, tables and their order are afterwards what they were. Which of
            several derivations a row of a recursion rests on may be another; no row shows that.
Algorithm:  own. A change and its inverse cost what two ordinary changes cost: no view is copied,
            none rebuilt, unless it reads a relation that promised to keep its rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from aspen.errors import AspenError
from aspen.model.delta import Delta, merge, negate
from aspen.views.circuit import Circuit
from aspen.views.node import Node
from aspen.views.operators.scan import ScanOperator
from aspen.views.operators.window import WindowOperator

Leaf = ScanOperator | WindowOperator
AT_ONCE = 100
"""Rows of a leaf that change in one dry epoch."""


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
    failed: list[Node] = []
    delta: Delta = {}
    done: list[Mapping[Leaf, Delta]] = []
    with circuit.supposing(watched) as below:
        reached = {leaf: moves for leaf, moves in changes.items() if leaf in below}
        orders = {leaf: dict(leaf.table) for leaf in reached if isinstance(leaf, ScanOperator)}
        for part in _slices(reached):
            done.append(part)
            merge(delta, _epoch(circuit, part, watched, failed))
            if circuit.supposed_enough:
                break
        for part in reversed(done):
            inverse = {leaf: negate(moves) for leaf, moves in part.items()}
            _epoch(circuit, inverse, watched, failed)
        for scan, table in orders.items():
            # The same rows in the order they had: a snapshot spells them in this order.
            scan.table.clear()
            scan.table.update(table)
    return HypotheticalDelta(delta, tuple(dict.fromkeys(failed)))


def _slices(changes: Mapping[Leaf, Delta]) -> Iterator[Mapping[Leaf, Delta]]:
    """Returns changes in epochs of at most AT_ONCE rows of a leaf: between them one may stop."""
    for start in range(0, max(map(len, changes.values()), default=0), AT_ONCE):
        yield {
            leaf: dict(islice(moves.items(), start, start + AT_ONCE))
            for leaf, moves in changes.items()
        }


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
