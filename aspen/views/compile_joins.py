"""Compile the joins of several inputs that are made together, not in pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aspen.algebra.join_graph import join_graph
from aspen.algebra.plan import Join
from aspen.views.node import Node
from aspen.views.operators.delta_join import DeltaJoin
from aspen.views.operators.generic_join import GenericJoin

if TYPE_CHECKING:
    from aspen.views.compile import Compiler

DELTA, WORST_CASE_OPTIMAL = "delta", "worst-case optimal"
"""How joins of several inputs are made, if not by one operator for every two."""

_KINDS = {DELTA: DeltaJoin, WORST_CASE_OPTIMAL: GenericJoin}


def build_joins(compiler: Compiler, plan: Join, how: str) -> Node:
    """Returns the node of joins within joins, made together.

    Args:
        how: DELTA or WORST_CASE_OPTIMAL.
    """
    graph, kind = join_graph(plan), _KINDS[how]
    nodes = [compiler.build(one) for one in graph.inputs]
    # repr tells 1 from 1.0 and TRUE, which are equal in Python.
    spelt = repr((graph.variables, graph.conditions))
    return compiler.node((how, *map(id, nodes), spelt), lambda: kind(nodes, graph))
