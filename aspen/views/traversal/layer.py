"""Layer: the edges that one value of the layer columns can pass, and who reached what by them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from aspen.model.schema import Row
from aspen.views.traversal.cheapest import Cheapest
from aspen.views.traversal.edges import Edges
from aspen.views.traversal.forest import Forest
from aspen.views.traversal.graph import Graph
from aspen.views.traversal.names import Begun
from aspen.views.work import Meter


class Layer:
    """One layer of a traversal.

    Args:
        edges: of the traversal.
        adds: whether lengths add up to costs; see `Cheapest`.
        passes: which edges it has; None for all.
        meter: counts the rows that are reached.
    """

    def __init__(
        self, edges: Edges, passes: Callable[[Row], bool] | None, meter: Meter, *, adds: bool
    ) -> None:
        self.graph = Graph(edges)
        self.state: Forest | Cheapest = (
            Cheapest(self.graph, meter, adds=adds) if edges.measured else Forest(self.graph, meter)
        )
        self._passes = passes
        self.gone: list[int] = []
        self.born: list[int] = []
        self.ended: list[Begun] = []
        self.begun: list[Begun] = []

    @property
    def touched(self) -> bool:
        """Whether anything changed in this epoch."""
        return bool(self.gone or self.born or self.ended or self.begun)

    @property
    def idle(self) -> bool:
        """Whether neither rows nor edges are left."""
        return not self.graph.leaving and not self.state.base

    def take_edges(self, came: Iterable[int], went: Iterable[int]) -> None:
        """Change the graph."""
        graph, edges, passes = self.graph, self.graph.edges, self._passes
        self.gone += [number for number in went if graph.remove(number)]
        for number in came:
            if edges.leads(number) and (passes is None or passes(edges.rows[number])):
                graph.add(number)
                self.born.append(number)

    def change(self) -> None:
        """Follow the epoch's changes."""
        self.state.change(self.gone, self.born, self.ended, self.begun)

    def end(self) -> None:
        """Forget the epoch."""
        self.state.end()
        self.gone, self.born, self.ended, self.begun = [], [], [], []
