"""Join path: what follows from one row of one input of a join, step by step.

    a(x, y) ⋈ b(y, z) ⋈ c(z, x)     row by row        from a: reach b by y, reach c by (z, x)
                                    value by value    from a: z that b has by y and c has by x

What is known grows from left to right: the row of the first input, then what each step appends.

Law:    the rows found are those of the joins that take the first row, whatever the order of steps.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from aspen.algebra.block import column_of
from aspen.algebra.evaluate import compile_predicate
from aspen.algebra.expr import Col, Expr, columns_in, conjunction, substitute
from aspen.algebra.join_graph import JoinGraph
from aspen.model.schema import Column, Row, Type
from aspen.views.node import Index, Indices, Key, key_of

Weighed = Iterable[tuple[Row, int]]
"""What is known, each with its weight so far."""
Spend = Callable[[int, str], None]
Test = Callable[[Row], bool]
WHAT = "a join"
"""How messages name it."""


@dataclass(frozen=True, slots=True)
class Side:
    """What of an input a step looks up.

    Args:
        number: of the input.
        indices: columns it is looked up by.
        value: the column whose values are found; whole rows if None.
    """

    number: int
    indices: Indices
    value: int | None = None


@dataclass(frozen=True, slots=True)
class _OfOneSide:
    """A step that looks up one input."""

    side: Side

    @property
    def sides(self) -> tuple[Side, ...]:
        """What it looks up."""
        return (self.side,)


@dataclass(frozen=True, slots=True)
class Reach(_OfOneSide):
    """Append the rows of an input.

    Args:
        key: from what is known.
        test: what must be true of what is known then.
    """

    key: Callable[[Row], Key]
    test: Test | None

    def follow(
        self, rows: Weighed, sides: Sequence[Sequence[Index]], spend: Spend
    ) -> Iterator[tuple[Row, int]]:
        """Returns what is known then."""
        key, test, (indexes,) = self.key, self.test, sides
        for known, weight in rows:
            at = key(known)
            for index in indexes:
                found = index.get(at)
                if found is None:
                    continue
                if len(found) > 1:
                    spend(len(found), WHAT)
                for row, times in found.items():
                    after = known + row
                    if test is None or test(after):
                        yield after, weight * times


@dataclass(frozen=True, slots=True)
class Propose:
    """Append a value that all of some inputs have: the one with the fewest proposes.

    Args:
        sides: at least one.
        keys: of each side, from what is known.
        weighing: numbers of the sides whose whole row is known then, and its weight.
        test: what must be true of what is known then.
    """

    sides: tuple[Side, ...]
    keys: tuple[Callable[[Row], Key], ...]
    weighing: Indices
    test: Test | None

    def follow(
        self, rows: Weighed, sides: Sequence[Sequence[Index]], spend: Spend
    ) -> Iterator[tuple[Row, int]]:
        """Returns what is known then."""
        looked_up, test = tuple(zip(self.keys, sides, strict=True)), self.test
        for known, weight in rows:
            offers: list[Offer] = []
            for key, indexes in looked_up:
                at = key(known)
                offer: Offer | None = indexes[0].get(at)
                if len(indexes) > 1:
                    offer = _both(indexes[0].get(at), indexes[1].get(at))
                if offer is None:
                    break
                offers.append(offer)
            else:
                values = _common(offers)
                if len(values) > 1:
                    spend(len(values), WHAT)
                weighing = [offers[number] for number in self.weighing]
                for value in values:
                    after = (*known, value)
                    if test is None or test(after):
                        times = weight
                        for offer in weighing:
                            times *= offer[value]
                        if times:
                            yield after, times


@dataclass(frozen=True, slots=True)
class Weigh(_OfOneSide):
    """Multiply by the weight of the one row of an input that what is known leaves.

    Args:
        key: from what is known.
        value: from what is known.
    """

    key: Callable[[Row], Key]
    value: Callable[[Row], Any]

    def follow(
        self, rows: Weighed, sides: Sequence[Sequence[Index]], spend: Spend
    ) -> Iterator[tuple[Row, int]]:
        """Returns what is known then."""
        del spend
        key, value_of, (indexes,) = self.key, self.value, sides
        for known, weight in rows:
            at, value, times = key(known), value_of(known), 0
            for index in indexes:
                found = index.get(at)
                if found is not None:
                    times += found.get(value, 0)
            if times:
                yield known, weight * times


Step = Reach | Propose | Weigh


@dataclass(frozen=True, slots=True)
class Path:
    """The steps outwards from one input.

    Args:
        start: the number of that input.
        head: what must be true of its row.
        order: from what is known at the end to the joined row; None where they are the same.
    """

    start: int
    head: Test | None
    steps: tuple[Step, ...]
    order: Callable[[Row], Row] | None


class Offered:
    """The values an input offers before an epoch, and their changes in it, without a copy."""

    __slots__ = ("_new", "_old")

    def __init__(self, old: dict[Any, int], new: dict[Any, int]) -> None:
        self._old = old
        self._new = new

    def __len__(self) -> int:
        return len(self._old) + len(self._new)

    def __iter__(self) -> Iterator[Any]:
        return iter({**self._old, **self._new})

    def __contains__(self, value: object) -> bool:
        return value in self._old or value in self._new

    def __getitem__(self, value: Any) -> int:
        return self._old.get(value, 0) + self._new.get(value, 0)


Offer = dict[Any, int] | Offered


def _both(old: dict[Any, int] | None, new: dict[Any, int] | None) -> Offer | None:
    return Offered(old, new) if old and new else old or new


def _common(offers: list[Offer]) -> Collection[Any]:
    """Returns the values in all offers; the smallest proposes, the others validate."""
    first, *others = sorted(offers, key=len) if len(offers) > 1 else offers
    values: Collection[Any] = first
    for offer in others:
        values = [value for value in values if value in offer]
    return values


def row_by_row(graph: JoinGraph, start: int) -> Path:
    """Orders a path that reaches one input after the other, each by all that is known of it."""
    known = _Known(graph, start)
    head = known.due()
    steps: list[Step] = []
    while known.left:
        steps.append(known.reach(max(known.left, key=lambda n: (known.tied(n), -n))))
    return Path(start, head, tuple(steps), known.order())


def value_by_value(graph: JoinGraph, start: int) -> Path:
    """Orders a path that finds the variables first, and then the rows that have them.

    What the first row decides is looked up first. The next variable is the one that most inputs
    can propose. The row of an input without further columns need not be looked up.
    """
    known = _Known(graph, start)
    head = known.due()
    steps: list[Step] = [known.check(number) for number in known.decided()]
    while variables := [v for v in range(len(graph.variables)) if v not in known.variables]:
        steps.append(known.propose(max(variables, key=lambda v: (len(known.proposers(v)), -v))))
    steps += [known.check(number) for number in known.decided()]
    return Path(start, head, tuple(steps), known.order())


class _Known:
    """What is known on the way, and where."""

    def __init__(self, graph: JoinGraph, start: int) -> None:
        self.graph = graph
        self.left = set(range(len(graph.inputs))) - {start}
        self.variables: dict[int, int] = {}
        self._width = 0
        self._at: dict[str, int] = {}
        self._untested = list(graph.conditions)
        self._take(start)

    def tied(self, number: int) -> int:
        """Returns how many variables of an input are known."""
        return sum(variable in self.variables for variable in self.graph.places[number])

    def proposers(self, variable: int) -> list[int]:
        """Returns the inputs that can propose a variable: by others, or having no other."""
        return [
            number
            for number in sorted(self.left)
            if variable in (own := self.graph.places[number])
            and (len(own) == 1 or self.tied(number))
        ]

    def decided(self) -> list[int]:
        """Returns the inputs all of whose variables are known, those first that add no columns."""
        decided = [n for n in sorted(self.left) if self.tied(n) == len(self.graph.places[n])]
        return sorted(decided, key=lambda n: not self._is_known(n))

    def check(self, number: int) -> Step:
        """Take an input whose variables are known."""
        return self.weigh(number) if self._is_known(number) else self.reach(number)

    def _is_known(self, number: int) -> bool:
        """Whether the variables that are known are an input's whole row."""
        own = self.graph.places[number]
        whole = self.tied(number) == len(self.graph.inputs[number].columns)
        return whole and all(map(self.graph.is_exact, own))

    def reach(self, number: int) -> Reach:
        """Append an input's rows."""
        indices, key = self._key(number, self.variables)
        self._take(number)
        return Reach(Side(number, indices), key, self.due())

    def propose(self, variable: int) -> Propose:
        """Append a variable's values."""
        sides: list[Side] = []
        keys: list[Callable[[Row], Key]] = []
        for number in self.proposers(variable):
            indices, key = self._key(number, self.variables)
            sides.append(Side(number, indices, column_of(self.graph.places[number][variable])[1]))
            keys.append(key)
        self._bind(variable, self._width)
        self._width += 1
        weighing = [i for i, side in enumerate(sides) if self._is_known(side.number)]
        self.left -= {sides[i].number for i in weighing}
        return Propose(tuple(sides), tuple(keys), tuple(weighing), self.due())

    def weigh(self, number: int) -> Weigh:
        """Take an input whose row is known."""
        own = self.graph.places[number]
        last = max(own)
        others = {v: at for v, at in self.variables.items() if v != last}
        indices, key = self._key(number, others)
        self.left.remove(number)
        side = Side(number, indices, column_of(own[last])[1])
        return Weigh(side, key, key_of((self.variables[last],)))

    def order(self) -> Callable[[Row], Row] | None:
        """Returns the function from all that is known to the joined row."""
        wanted = tuple(self._at[name] for name in self.graph.names)
        return None if wanted == tuple(range(self._width)) else key_of(wanted)

    def due(self) -> Test | None:
        """Returns the test of the conditions that can be tested now, each once."""
        due = [c for c in self._untested if columns_in(c) <= self._at.keys()]
        self._untested = [c for c in self._untested if c not in due]
        condition = conjunction(due)
        return None if condition is None else self._test(condition)

    def _test(self, condition: Expr) -> Test:
        # Only the names are looked at: the expressions are typed already.
        columns = [Column(f"k{index}", Type.INT) for index in range(self._width)]
        known = {name: Col(f"k{index}") for name, index in self._at.items()}
        return compile_predicate(substitute(condition, known), columns)

    def _key(self, number: int, variables: dict[int, int]) -> tuple[Indices, Callable[[Row], Key]]:
        """Returns the columns of an input whose values are known, and where those are."""
        own = self.graph.places[number]
        pairs = sorted((column_of(own[v])[1], variables[v]) for v in own if v in variables)
        return tuple(index for index, _ in pairs), key_of([at for _, at in pairs])

    def _take(self, number: int) -> None:
        self.left.discard(number)
        for index, name in enumerate(self.graph.own(number)):
            self._at[name] = self._width + index
        for variable, name in self.graph.places[number].items():
            if variable not in self.variables:
                self._bind(variable, self._at[name])
        self._width += len(self.graph.inputs[number].columns)

    def _bind(self, variable: int, at: int) -> None:
        self.variables[variable] = at
        if self.graph.is_exact(variable):
            for name in self.graph.variables[variable]:
                self._at.setdefault(name, at)
