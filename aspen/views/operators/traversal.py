"""Traversal: a recursion that goes along edges, kept without waiting derivations.

    epoch     1          2              3
    link      +ab +bc    -bc +ac        +bc
    reach     +ab +bc    -bc            +bc          (ac was there before: it is reached by
              +ac                                     another edge, and no delta shows)

Law:        after each epoch, contents == least fixpoint over the inputs so far; equal to Fixpoint
            with the strategy `justification`, of which this is the compact form for traversals.
Algorithm:  own; a row keeps the one edge by which it was reached (Doyle's justification), in
            `Forest` for sets and `Cheapest` (Ramalingam and Reps) for least costs.
State:      numbers for invariant values, vertices and edges; per layer, which invariant value
            reached which vertex by which edge. No row is kept as a tuple.
Receives:   deltas of the base rows and of the edges.     Gives: weights +1 and -1 of a set.
Ends:       every row falls and is reached at most once per epoch; costs that fall for ever exceed
            a budget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from operator import itemgetter
from typing import Any

from aspen.algebra.evaluate import compile_predicate
from aspen.model.delta import Delta
from aspen.model.schema import Column, Row, Type
from aspen.views.node import EndlessRecursion, Lookups, Node, Way, row_of
from aspen.views.traversal.edges import Edges
from aspen.views.traversal.layer import Layer
from aspen.views.traversal.names import Names, RowGroup
from aspen.views.traversal.shape import TraversalShape
from aspen.views.work import RECURSION

MAX_ROWS = 8_000_000
"""Rows of one view; ~120 bytes each where costs are kept, so a lane of 1 GB."""


class Traversal(Node):
    """A recursive view that is a traversal."""

    what = RECURSION

    def __init__(self, base: Node, edges: Node, shape: TraversalShape) -> None:
        super().__init__(base, edges)
        self._base, self._edges = base, edges
        self._shape = shape
        self._cost = shape.cost
        self._invariant_of, self._vertex_of = row_of(shape.invariant), row_of(shape.vertex)
        self._layer_of = row_of(shape.layer)
        self._passes = None
        if shape.passes is not None:
            # A layer's values, then the whole edge; only the names are looked at.
            names = (*shape.names, *shape.edge_names)
            self._passes = compile_predicate(shape.passes, [Column(n, Type.INT) for n in names])
        cost = () if shape.cost is None else (shape.cost,)
        self._arrange = _arranged((*shape.invariant, *shape.vertex, *cost), shape.sign)
        self._begun: Delta = {}
        self._invariant = Names()
        self._vertices = Names()
        self._table = Edges(
            self._vertices, len(shape.vertex), measured=shape.cost is not None, sign=shape.sign
        )
        self._layers: dict[Row, Layer] = {}

    def start(self) -> None:
        """Compute the view from the inputs' contents."""
        table = self._table
        table.take(self._edges.contents())
        if self._edges is self._base:
            begun = [table.rows[number] for number in table.present()]
        else:
            begun, _ = self._changes(self._base.contents())
        for row in begun:
            self._begin(row)
        rows = 0
        for layer in self._layers.values():
            layer.begun.clear()
            layer.state.load()
            rows += layer.state.count()
        if rows > MAX_ROWS:
            raise EndlessRecursion(
                f"a recursion derived {rows} rows, more than the {MAX_ROWS} a lane can hold",
                attempt="begin it from fewer rows, or bound it by a WHERE on its edges",
            )

    def kept(self) -> int:
        """Count the rows of the own state."""
        return sum(layer.state.count() for layer in self._layers.values())

    def contents(self) -> Delta:
        """Returns the rows."""
        found = (self._spelled(layer.state.rows()) for layer in self._layers.values())
        return dict.fromkeys(chain.from_iterable(found), 1)

    def step(self) -> Delta:
        """Take in one epoch of changes."""
        table = self._table
        edges_came, edges_went = table.take(self._edges.delta)
        if self._edges is self._base:  # every link is a traversal, too
            base_came, base_went = (
                [table.rows[number] for number in numbers] for numbers in (edges_came, edges_went)
            )
        else:
            base_came, base_went = self._changes(self._base.delta)
        for layer in self._layers.values():
            layer.take_edges(edges_came, edges_went)
        for row in base_went:
            self._cease(row)
        for row in base_came:
            self._begin(row)
        out: Delta = {}
        for layer in self._layers.values():
            if layer.touched:
                layer.change()
                out.update(dict.fromkeys(self._spelled(layer.state.minus()), -1))
                out.update(dict.fromkeys(self._spelled(layer.state.plus()), 1))
                layer.end()
        for values in [v for v, layer in self._layers.items() if layer.idle]:
            del self._layers[values]
        table.sweep()
        self._invariant.sweep()
        self._vertices.sweep()
        return out

    def ways(self, row: Row, asked: Lookups) -> Iterable[Way]:
        """Returns the derivations of a row: by every edge that leads to it, or by the one kept."""
        values = self._invariant_of(row)
        layer = self._layers[self._layer_of(values)]
        invariant = self._invariant.numbers[values]
        vertex = self._vertices.numbers[self._vertex_of(row)]
        cost = self._cost_of(row)
        if asked.every:
            begins = layer.state.begins(invariant, vertex, cost)
            numbers = layer.state.ways(invariant, vertex, cost)
        else:
            parent = layer.state.parent(invariant, vertex)
            begins, numbers = parent is None, [] if parent is None else [parent]
        found: list[Way] = [((self._base, row),)] if begins else []
        for number in numbers:
            start = self._table.starts[number]
            (before,) = self._spelled([layer.state.row(invariant, start)])
            found.append(((self, before), (self._edges, self._table.rows[number])))
        return found

    def _changes(self, delta: Delta) -> tuple[list[Row], list[Row]]:
        """Returns the base rows that came into being, and those that ceased."""
        weights = self._begun
        came: list[Row] = []
        went: list[Row] = []
        for row, weight in delta.items():
            old = weights.get(row, 0)
            new = old + weight
            if new:
                weights[row] = new
            else:
                del weights[row]
            if old <= 0 < new:
                came.append(row)
            elif new <= 0 < old:
                went.append(row)
        return came, went

    def _begin(self, row: Row) -> None:
        """Take in a base row, and open its layer if it is the first there."""
        cost = self._cost_of(row)
        if cost is None and self._cost is not None:
            return  # a null cost never competes
        values = self._invariant_of(row)
        number = self._layer_of(values)
        layer = self._layers.get(number)
        if layer is None:
            layer = self._layers[number] = self._open(number)
        invariant, vertex = self._invariant.use(values), self._vertices.use(self._vertex_of(row))
        layer.state.begin(invariant, vertex, cost)
        layer.begun.append((invariant, vertex, cost))

    def _cease(self, row: Row) -> None:
        """Take out a base row."""
        cost = self._cost_of(row)
        if cost is None and self._cost is not None:
            return
        values = self._invariant_of(row)
        invariant = self._invariant.numbers[values]
        vertex = self._vertices.numbers[self._vertex_of(row)]
        self._layers[self._layer_of(values)].ended.append((invariant, vertex, cost))
        self._invariant.release(invariant)
        self._vertices.release(vertex)

    def _cost_of(self, row: Row) -> Any:
        """Returns what is minimised."""
        cost: Any = None if self._cost is None else row[self._cost]
        return -cost if self._shape.sign < 0 and cost is not None else cost

    def _open(self, values: Row) -> Layer:
        """Make the layer of some values, with the edges that can be passed there."""
        passes = self._passes
        may = None if passes is None else lambda row: passes(values + row)
        layer = Layer(self._table, may, self.meter, adds=self._shape.adds)
        layer.take_edges(self._table.present(), ())
        layer.born.clear()
        return layer

    def _spelled(self, found: Iterable[RowGroup]) -> Iterator[Row]:
        """Spell out rows."""
        invariant, vertices, arrange = self._invariant.values, self._vertices.values, self._arrange
        rows = chain.from_iterable(group.rows(invariant, vertices) for group in found)
        return rows if arrange is None else map(arrange, rows)


def _arranged(order: tuple[int, ...], sign: int) -> Callable[[Row], Row] | None:
    """Returns what puts a row's values in the view's order and its cost in the view's sign.

    Returns:
        None where there is nothing to do.
    """
    indices = [order.index(column) for column in range(len(order))]
    turned = itemgetter(*indices) if indices != sorted(indices) else None
    if sign > 0:
        return turned
    if turned is None:
        return _negated
    then = turned
    return lambda row: then(_negated(row))


def _negated(row: Row) -> Row:
    cost: Any = row[-1]
    return (*row[:-1], -cost)
