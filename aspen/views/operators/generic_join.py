"""GenericJoin: several inputs joined value by value, in the time of the largest possible answer.

    a(x, y) ⋈ b(y, z) ⋈ c(z, x)    +a(1, 2)    b has 3 … 999 for y = 2, c has 3 for x = 1:
                                               c proposes 3, b has it: (1, 2, 3)

Law:        as MultiwayJoin.
Algorithm:  [Goebel19] 9 and 13, Delta-BiGJoin (Ammar et al., VLDB 2018): for the next variable each
            input that has it counts its values, the one with the fewest proposes, the others
            validate. The choice is made for each prefix, so no order of inputs is a bad one.
State:      none of its own: one arrangement of values per input, variable and columns before it.
Receives:   deltas of bags.     Gives: the joined rows, weights multiplied.
Ends:       always: one proposal per prefix and value of the smallest offer.
"""

from __future__ import annotations

from collections.abc import Sequence

from aspen.algebra.join_graph import JoinGraph
from aspen.views.join_path import value_by_value
from aspen.views.node import Node
from aspen.views.operators.multiway_join import MultiwayJoin


class GenericJoin(MultiwayJoin):
    """Joins value by value."""

    def __init__(self, inputs: Sequence[Node], graph: JoinGraph) -> None:
        numbers = range(len(inputs))
        widths = [len(plan.columns) for plan in graph.inputs]
        super().__init__(inputs, widths, [value_by_value(graph, number) for number in numbers])
