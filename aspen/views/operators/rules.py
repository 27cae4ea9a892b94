"""Rules: the compiled rules of a recursion, each outwards from whichever of its atoms changed.

    rule         path(x, y) :- path(x, z), path(z, y)           base(x, y)
    source       (group of path(x, z), group of path(z, y))     (None, base row)

    settled      ab                bc                       retract ab
    found        -                 ab ⋈ bc  (from bc)       ab ⋈ bc  (from ab)

Law:        enumerates every derivation that uses a given row and else settled rows and inputs,
            exactly once; its source names it, from whichever of its rows it is found: equal
            sources, equal rule and equal rows used.
Algorithm:  a delta query per atom (each row that changes is joined outwards with what is settled
            or given, by PipelinedHashJoins, [LTZIL09] section IV.C); of equal groups in two atoms
            the later one counts as the changed one.
State:      none here: settled rows by key in SettledIndexes, input rows in arrangements.
Receives:   recursive rows, changes of the inputs.     Gives: derivations to `sink`.
Ends:       as many joins as the rule has atoms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from aspen.model.schema import Row
from aspen.views.node import Key
from aspen.views.operators.min_ship import Group, SettledIndex, Source
from aspen.views.operators.recursive_input import RecursiveInput
from aspen.views.work import RECURSION, UNMETERED, Meter

Sink = Callable[[Source, Row], None]

Onwards = Callable[[Source, Row, Sink], None]
"""Goes on from a row so far and the source of what it used."""

_NOBODY: dict[Group, Row] = {}
_STEPS = 10
"""Of work in a derivation: it takes as long as ten joined pairs, and as much memory."""


@dataclass(frozen=True, slots=True)
class Link:
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
    """A rule outwards from one atom.

    Args:
        start: that atom.
        head: from its row to the row so far, None where a condition fails.
        links: the other atoms; after the last, the row so far is the derived row.
        mark: what tells this rule's sources from another's.
    """

    def __init__(
        self,
        start: int,
        head: Callable[[Row], Row | None],
        links: tuple[Link, ...],
        mark: tuple[int, ...],
    ) -> None:
        self._start = start
        self._head = head
        self._links = links
        self._mark = mark
        self.meter = UNMETERED
        met = (start, *(link.atom for link in links))
        order = tuple(met.index(atom) for atom in range(len(met)))
        self._order = None if order == tuple(range(len(met))) else order
        self._onwards = self._compiled()

    def derive(self, start: Source, row: Row, sink: Sink) -> None:
        """Enumerate the derivations that use one row of the first atom, `start` naming it."""
        reached = self._head(row)
        if reached is not None:
            self._onwards(start, reached, sink)

    def _compiled(self) -> Onwards:
        """Returns what joins a row so far with the links' atoms, one within the other."""
        if not self._links:
            return self._alone
        onwards: Onwards | None = None
        for link in reversed(self._links):
            if isinstance(link.partners, SettledIndex):
                onwards = self._beside_settled(link, link.partners, onwards or self._derived)
            elif onwards is None and self._order is None:
                onwards = self._beside_last(link, link.partners)
            else:
                onwards = self._beside_input(link, link.partners, onwards or self._derived)
        assert onwards is not None
        return onwards

    def _alone(self, source: Source, row: Row, sink: Sink) -> None:
        self.meter.spend(_STEPS, RECURSION)
        sink(source + self._mark, row)

    def _derived(self, source: Source, row: Row, sink: Sink) -> None:
        if self._order is not None:
            source = tuple([source[index] for index in self._order])
        sink(source + self._mark, row)

    def _beside_settled(self, link: Link, partners: SettledIndex, onwards: Onwards) -> Onwards:
        key, after, index = link.key, link.after, partners.index
        # As an earlier atom the row itself is met again from the chain of that atom.
        earlier = link.atom < self._start

        def joined(source: Source, row: Row, sink: Sink) -> None:
            own = source[0] if earlier else None
            found = index.get(key(row), _NOBODY)
            self.meter.spend(_STEPS * len(found), RECURSION)
            for group, partner in found.items():
                reached = after(row, partner)
                if reached is not None and group is not own:
                    onwards((*source, group), reached, sink)

        return joined

    def _beside_input(self, link: Link, partners: RecursiveInput, onwards: Onwards) -> Onwards:
        key, after, matches = link.key, link.after, partners.matches

        def joined(source: Source, row: Row, sink: Sink) -> None:
            rows = matches(key(row))
            self.meter.spend(_STEPS * len(rows), RECURSION)
            for partner in rows:
                reached = after(row, partner)
                if reached is not None:
                    onwards((*source, partner), reached, sink)

        return joined

    def _beside_last(self, link: Link, partners: RecursiveInput) -> Onwards:
        """As `_beside_input` and `_derived`: most derivations end here."""
        key, after, matches, mark = link.key, link.after, partners.matches, self._mark

        def joined(source: Source, row: Row, sink: Sink) -> None:
            rows = matches(key(row))
            self.meter.spend(_STEPS * len(rows), RECURSION)
            for partner in rows:
                reached = after(row, partner)
                if reached is not None:
                    sink((*source, partner, *mark), reached)

        return joined


class RecursiveRule:
    """What derives rows of one relation from rows of the recursion.

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
        self.inputs = inputs
        self._chains = chains
        self._atoms = tuple(atom for atom, _ in recursive)
        self.entries = tuple((relation, chains[atom]) for atom, relation in recursive)
        """By which relation's rows derivations begin, and who enumerates them."""

    def count_on(self, meter: Meter) -> None:
        """Let a meter count the rows that are looked at."""
        for chain in self._chains:
            chain.meter = meter

    def premises(self, source: Source) -> tuple[Group, ...]:
        """Returns the groups whose rows a derivation used."""
        return tuple([source[atom] for atom in self._atoms])

    def taken(self, source: Source) -> Iterator[tuple[RecursiveInput, Row]]:
        """Returns the input rows a derivation used."""
        for atom, sides in self.inputs.items():
            yield sides[0], source[atom]

    def bury(self, sink: Sink) -> None:
        """Enumerate the derivations that used rows which went from the inputs; hide those rows."""
        for atom, sides in self.inputs.items():
            for rows in sides[0].gone.values():
                for row in rows:
                    self._chains[atom].derive((row,), row, sink)
            for side in sides:
                side.hide_gone()

    def arise(self, sink: Sink) -> None:
        """Enumerate the derivations that use rows which came to the inputs; show those rows."""
        for atom, sides in self.inputs.items():
            for rows in sides[0].born.values():
                for row in rows:
                    self._chains[atom].derive((row,), row, sink)
            for side in sides:
                side.show_born()


class Rules:
    """What derives the rows of a recursion.

    Args:
        bases: the rows each relation begins with.
        steps: the rules that read the recursion.

    Sources end with the number of their base or step, where there is more than one.
    """

    def __init__(self, bases: tuple[RecursiveInput, ...], steps: tuple[RecursiveRule, ...]) -> None:
        self.bases = bases
        self.steps = steps
        of_steps = [side for step in steps for sides in step.inputs.values() for side in sides]
        self.sides = (*bases, *of_steps)

    def count_on(self, meter: Meter) -> None:
        """Let a meter count what the rules look at."""
        for step in self.steps:
            step.count_on(meter)

    def begun(self, number: int) -> Iterator[tuple[Source, Row]]:
        """Returns the rows a relation begins with, with their sources."""
        for row in self.bases[number].matches(()):
            yield self.first(number, row), row

    def first(self, number: int, row: Row) -> Source:
        """Returns the source of a row that a relation begins with."""
        return (None, row) if len(self.bases) == 1 else (None, row, number)

    def premises(self, source: Source) -> tuple[Group, ...]:
        """Returns the groups whose rows a derivation used."""
        return () if source[0] is None else self._step(source).premises(source)

    def taken(self, source: Source) -> Iterator[tuple[RecursiveInput, Row]]:
        """Returns the input rows a derivation used."""
        if source[0] is None:
            yield self.bases[source[-1] if len(self.bases) > 1 else 0], source[1]
        else:
            yield from self._step(source).taken(source)

    def _step(self, source: Source) -> RecursiveRule:
        return self.steps[source[-1] if len(self.steps) > 1 else 0]
