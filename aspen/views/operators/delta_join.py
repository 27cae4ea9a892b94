"""DeltaJoin: several inputs joined row by row, without what pairwise joins keep in between.

    t0 ⋈ t1 ⋈ t2 on id      +t1    t1 → t0 → t2      three lookups by key, nothing kept

Law:        as MultiwayJoin.
Algorithm:  [Goebel19] 8: each path reaches one input after the other by all columns it knows.
State:      none of its own: one arrangement per input and set of columns it is reached by.
Receives:   deltas of bags.     Gives: the joined rows, weights multiplied.
Ends:       always: one lookup per row on the way and input.
"""

from __future__ import annotations

from collections.abc import Sequence

from aspen.algebra.join_graph import JoinGraph
from aspen.views.join_path import row_by_row
from aspen.views.node import Node
from aspen.views.operators.multiway_join import MultiwayJoin


class DeltaJoin(MultiwayJoin):
    """Joins row by row."""

    def __init__(self, inputs: Sequence[Node], graph: JoinGraph) -> None:
        numbers = range(len(inputs))
        widths = [len(plan.columns) for plan in graph.inputs]
        super().__init__(inputs, widths, [row_by_row(graph, number) for number in numbers])
