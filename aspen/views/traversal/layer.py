"""Layer: the edges that one value of the layer columns can pass, and who reached what by them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from aspen.model.schema import Row
from aspen.views.traversal.cheapest import Cheapest
from aspen.views.traversal.forest import Forest
from aspen.views.traversal.graph import Graph
from aspen.views.traversal.names import Begun, Names
from aspen.views.traversal.shape import TraversalShape
from aspen.views.work import Meter


class Layer:
    """One layer of a traversal.

    Args:
        shape: of the traversal.
        passes: which edges it has; None for all.
        meter: counts the rows that are reached.
    """

    def __init__(
        self,
        vertices: Names,
        shape: TraversalShape,
        passes: Callable[[Row], bool] | None,
        meter: Meter,
    ) -> None:
        measured = shape.cost is not None
        self.graph = Graph(vertices, len(shape.vertex), measured=measured, sign=shape.sign)
        self.state: Forest | Cheapest = (
            Cheapest(self.graph, meter, adds=shape.adds) if measured else Forest(self.graph, meter)
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
        return not self.graph.edges and not self.state.base

    def take_edges(self, came: Iterable[Row], went: Iterable[Row]) -> None:
        """Change the graph."""
        graph, passes = self.graph, self._passes
        for row in went:
            number = graph.remove(row)
            if number is not None:
                self.gone.append(number)
        for row in came:
            if passes is None or passes(row):
                number = graph.add(row)
                if number is not None:
                    self.born.append(number)

    def change(self) -> None:
        """Follow the epoch's changes."""
        self.state.change(self.gone, self.born, self.ended, self.begun)

    def end(self) -> None:
        """Forget the epoch."""
        self.state.end()
        self.graph.sweep()
        self.gone, self.born, self.ended, self.begun = [], [], [], []
