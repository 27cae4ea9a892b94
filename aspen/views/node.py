"""Node: what every operator of a circuit has in common, and the shared indexes of its rows.

epoch      1        2        3
delta    +a +b      -a       ·        what `step` gave, visible to consumers in this epoch
index    a b        b        b        moves at the end of the epoch: during it, the old state
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from aspen.errors import AspenError
from aspen.model.delta import Delta
from aspen.model.schema import Row
from aspen.views.budgets import Payers
from aspen.views.work import UNMETERED

Key = Any  # one column: its value; several: a tuple of values; none: ()
Indices = tuple[int, ...]
Index = dict[Key, dict[Any, int]]
"""By key the rows, or the values of a column, each with its weight."""
Place = Indices | tuple[Indices, int]
"""The columns of an index, and the one whose values are in it where rows are not."""
Way = tuple[tuple["Node", Row], ...]
"""One derivation of a row: the rows of other nodes it takes, all of them."""


class EndlessRecursion(AspenError, code="aspen.views.endless_recursion"):
    """A recursion that keeps deriving."""


def key_of(indices: Sequence[int]) -> Callable[[Row], Key]:
    """The function from a row to its key; a single column is its own key, without a tuple."""
    if not indices:
        return _no_key
    return itemgetter(*indices)


def row_of(indices: Sequence[int]) -> Callable[[Row], Row]:
    """Returns the function from a row to the tuple of some of its values."""
    if not indices:
        return _no_key
    if len(indices) == 1:
        only = indices[0]
        return lambda row: (row[only],)
    return itemgetter(*indices)


def _no_key(_row: Row) -> tuple[()]:
    return ()


def has_null(key: Key, width: int) -> bool:
    """Whether a key can match nothing, because SQL's null equals nothing."""
    if width == 1:
        return key is None
    return width > 1 and None in key


class Arrangement:
    """The rows of one node by key, shared by all operators that look them up that way.

    Args:
        indices: key columns. Rows with a null key are left out: they join nothing.
    """

    __slots__ = ("index", "indices", "key", "users")

    def __init__(self, indices: Indices, contents: Delta) -> None:
        self.indices = indices
        self.key = key_of(indices)
        self.users = 0
        self.index: Index = {}
        self.apply(contents)

    @property
    def place(self) -> Place:
        """What its node knows it by."""
        return self.indices

    def apply(self, delta: Delta) -> None:
        """Move to the state after the epoch."""
        index, key, width = self.index, self.key, len(self.indices)
        for row, weight in delta.items():
            at = key(row)
            bucket = index.get(at)
            if bucket is None:
                if not has_null(at, width):
                    index[at] = {row: weight}
                continue
            total = bucket.get(row, 0) + weight
            if total:
                bucket[row] = total
            else:
                del bucket[row]
                if not bucket:
                    del index[at]


class ValueArrangement(Arrangement):
    """The values of a column of one node by key, each with the weights of its rows together.

    Args:
        value: the column. Nulls are left out, as in keys.
    """

    __slots__ = ("value",)

    def __init__(self, indices: Indices, value: int, contents: Delta) -> None:
        self.value = value
        super().__init__(indices, contents)

    @property
    def place(self) -> Place:
        """What its node knows it by."""
        return (self.indices, self.value)

    def apply(self, delta: Delta) -> None:
        """Move to the state after the epoch."""
        index, key, width, column = self.index, self.key, len(self.indices), self.value
        for row, weight in delta.items():
            at, value = key(row), row[column]
            if value is None or has_null(at, width):
                continue
            bucket = index.setdefault(at, {})
            total = bucket.get(value, 0) + weight
            if total:
                bucket[value] = total
            else:
                bucket.pop(value, None)
                if not bucket:
                    del index[at]


def arranged(rows: Delta, indices: Indices, value: int | None) -> Arrangement:
    """Returns an index of rows, or of the values of a column, by some columns."""
    return Arrangement(indices, rows) if value is None else ValueArrangement(indices, value, rows)


class Lookups:
    """What operators look up to tell how rows came to be, remembered for one question.

    Args:
        every: all derivations of a row are asked for; otherwise one suffices.
    """

    def __init__(self, *, every: bool) -> None:
        self.every = every
        self._contents: dict[Node, Delta] = {}
        self._befores: dict[Node, dict[Key, list[Row]]] = {}

    def contents(self, node: Node) -> Delta:
        """Returns a node's rows, computed once."""
        known = self._contents.get(node)
        if known is None:
            known = self._contents[node] = node.contents()
        return known

    def before(self, node: Node, key: Callable[[Row], Key]) -> Mapping[Key, list[Row]]:
        """Returns the rows of a node's input by a key, always the same for a node."""
        known = self._befores.get(node)
        if known is None:
            known = self._befores[node] = {}
            for row in self.contents(node.inputs[0]):
                known.setdefault(key(row), []).append(row)
        return known


class Node:
    """One operator of a circuit.

    Args:
        inputs: the nodes it reads, each of lower height.

    `payers` has the budgets it works within; `meter` counts its steps, and is its circuit's;
    `weighed_rows` is what it held when that was last counted, `moved_rows` what moved since.
    """

    what = "SELECT"
    """How messages name it."""

    def __init__(self, *inputs: Node) -> None:
        self.inputs = inputs
        self.height: int = 1 + max((node.height for node in inputs), default=-1)
        self.delta: Delta = {}
        self.arrangements: dict[Place, Arrangement] = {}
        self.consumers: list[Node] = []
        self.identity: Any = None
        self.users = 0
        self.failure: AspenError | None = None
        self.meter = UNMETERED
        self.payers = Payers()
        self.weighed_rows = 0
        self.moved_rows = 0
        self.dropped = False

    def start(self) -> None:
        """Build the state from the inputs' contents; called once, between epochs."""

    def step(self) -> Delta:
        """Turn the inputs' deltas of this epoch into the own one."""
        raise AssertionError(type(self).__name__)  # pragma: no cover - every operator has one

    def contents(self) -> Delta:
        """Returns all rows, between epochs. The caller must not change the dict."""
        raise AssertionError(type(self).__name__)  # pragma: no cover - every operator has one

    def kept(self) -> int:
        """Count the rows of the own state, without shared indexes; most operators have none."""
        return 0

    def weigh(self) -> None:
        """Count the rows it holds, those of its indexes too."""
        indexed = sum(sum(map(len, one.index.values())) for one in self.arrangements.values())
        self.weighed_rows, self.moved_rows = self.held_rows() + indexed, 0

    def held_rows(self) -> int:
        """Count what is held for the own state, in rows."""
        return self.kept()

    def base_row(self, row: Row) -> tuple[str, Row] | None:
        """Returns the deletable base row that `row` is, None where it is derived or given."""
        del row
        return None

    def ways(self, row: Row, asked: Lookups) -> Iterable[Way]:
        """Returns the ways in which a present row is derived; an empty way needs nothing."""
        del asked
        return [((self.inputs[0], row),)]

    def stop(self) -> None:
        """Releases the arrangements of the inputs; called once, when nobody reads this node."""

    def settle(self) -> None:
        """End the epoch: indexes move to the new state."""
        for arrangement in self.arrangements.values():
            arrangement.apply(self.delta)
        self.delta = {}

    def arrange(self, indices: Indices, value: int | None = None) -> Arrangement:
        """Returns the shared index of this node's rows by some columns, between epochs.

        Args:
            value: a column; its values are in the index instead of rows.
        """
        place: Place = indices if value is None else (indices, value)
        known = self.arrangements.get(place)
        if known is None:
            known = self.arrangements[place] = arranged(self.contents(), indices, value)
        known.users += 1
        return known

    def disarrange(self, arrangement: Arrangement) -> None:
        """Say that one user of an index is gone; the last one drops it."""
        arrangement.users -= 1
        if not arrangement.users:
            del self.arrangements[arrangement.place]


class LinearNode(Node):
    """An operator without state, for which op(a + b) = op(a) + op(b)."""

    def apply(self, rows: Delta) -> Delta:
        """Returns what comes of some rows of the input."""
        raise AssertionError(type(self).__name__, rows)  # pragma: no cover - every operator has one

    def step(self) -> Delta:
        """Returns what comes of the input's delta."""
        return self.apply(self.inputs[0].delta)

    def contents(self) -> Delta:
        """Returns what comes of the input's rows."""
        return self.apply(self.inputs[0].contents())
