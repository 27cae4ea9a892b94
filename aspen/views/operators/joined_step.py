"""JoinedStep: a rule that reads the recursion several times, e.g. path(x, z), path(z, y).

    settled      ab                bc                       retract ab
    found        -                 ab ⋈ bc  (from bc)       ab ⋈ bc  (from ab)

Law:        enumerates every derivation that uses a given row and else settled rows and inputs,
            exactly once; a derivation has one source, from whichever of its rows it is found.
Algorithm:  a delta query per atom (each row that changes is joined outwards with what is settled
            or given); of equal groups in two atoms the later one counts as the changed one.
State:      none here: settled rows by key in SettledIndexes, input rows in arrangements.
Receives:   recursive rows, changes of the inputs.     Gives: derivations to `sink`.
Ends:       as many joins as the rule has atoms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from aspen.model.schema import Row
from aspen.views.node import Key, has_null
from aspen.views.operators.linear_step import Sink
from aspen.views.operators.min_ship import Group, Source
from aspen.views.operators.recursive_input import RecursiveInput
from aspen.views.operators.settled_index import SettledIndex

_NOBODY: dict[Group, Row] = {}


@dataclass(frozen=True, slots=True)
class ChainJoin:
    """One further atom of a chain.

    Args:
        atom: its number in the rule.
        partners: its rows by key.
        key: from the row so far to the key.
        after: from the row so far and a partner to the next row so far, None where a condition
            fails.
    """

    atom: int
    partners: RecursiveInput | SettledIndex
    key: Callable[[Row], Key]
    after: Callable[[Row, Row], Row | None]


class Chain:
    """The rule outwards from one atom.

    Args:
        start: that atom.
        head: from its row to the row so far, None where a condition fails.
        joins: the other atoms.
        mark: what tells this rule's sources from another's.
    """

    def __init__(
        self,
        start: int,
        head: Callable[[Row], Row | None],
        joins: tuple[ChainJoin, ...],
        mark: tuple[int, ...],
    ) -> None:
        self._start = start
        self._head = head
        self._joins = joins
        self._mark = mark
        met = (start, *(join.atom for join in joins))
        self._order = tuple(met.index(atom) for atom in range(len(met)))

    def add(self, start: Source, row: Row, sink: Sink) -> None:
        """Enumerate the derivations that use one row of the first atom."""
        reached = self._head(row)
        if reached is not None:
            self._walk(0, start, reached, sink)

    remove = add

    def _walk(self, place: int, source: Source, row: Row, sink: Sink) -> None:
        if place == len(self._joins):
            sink((*[source[at] for at in self._order], *self._mark), row)
            return
        join = self._joins[place]
        key, after, partners = join.key(row), join.after, join.partners
        if isinstance(partners, SettledIndex):
            if has_null(key, len(partners.places)):
                return
            # As an earlier atom the row itself is met again from the chain of that atom.
            own = source[0] if join.atom < self._start else None
            for group, partner in partners.index.get(key, _NOBODY).items():
                reached = after(row, partner)
                if reached is not None and group is not own:
                    self._walk(place + 1, (*source, group), reached, sink)
            return
        if has_null(key, partners.width):
            return
        for partner in partners.matches(key):
            reached = after(row, partner)
            if reached is not None:
                self._walk(place + 1, (*source, partner), reached, sink)


class JoinedStep:
    """A rule with several recursive rows.

    Args:
        gives: the number of the relation it derives.
        recursive: its recursive atoms with the number of the relation each reads.
        chains: the rule outwards from each atom, by atom.
        inputs: per other atom all its sides; a derivation is taken to use the first.
    """

    def __init__(
        self,
        gives: int,
        recursive: tuple[tuple[int, int], ...],
        chains: tuple[Chain, ...],
        inputs: dict[int, tuple[RecursiveInput, ...]],
    ) -> None:
        self.gives = gives
        self._recursive = recursive
        self._chains = chains
        self._inputs = inputs
        self.sides = tuple(side for sides in inputs.values() for side in sides)

    @property
    def entries(self) -> tuple[tuple[int, Chain], ...]:
        """By which relation's rows derivations of this rule begin, and who enumerates them."""
        return tuple((relation, self._chains[atom]) for atom, relation in self._recursive)

    def premises(self, source: Source) -> tuple[Group, ...]:
        """Returns the groups whose rows a derivation used."""
        return tuple(source[atom] for atom, _ in self._recursive)

    def taken(self, source: Source) -> Iterator[tuple[RecursiveInput, Row]]:
        """Returns the input rows a derivation used."""
        for atom, sides in self._inputs.items():
            yield sides[0], source[atom]

    def bury(self, sink: Sink) -> None:
        """Enumerate the derivations that used rows which went from the inputs; hide those rows."""
        for atom, sides in self._inputs.items():
            for rows in sides[0].gone.values():
                for row in rows:
                    self._chains[atom].remove((row,), row, sink)
            for side in sides:
                side.hide_gone()

    def arise(self, sink: Sink) -> None:
        """Enumerate the derivations that use rows which came to the inputs; show those rows."""
        for atom, sides in self._inputs.items():
            for rows in sides[0].born.values():
                for row in rows:
                    self._chains[atom].add((row,), row, sink)
            for side in sides:
                side.show_born()

    def clear(self) -> None:
        """Nothing is kept."""
