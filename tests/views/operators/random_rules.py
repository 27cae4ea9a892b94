"""Random programs of rules, non-linear and mutual, and what they mean in plain Python.

Sets `a`, `b`, `c` of pairs; costs `m`, `n` of pairs under min (or max), and `s`, a set that hands
costs of `m` and `n` on. Negation speaks of tables alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from hypothesis import strategies as st
from views import small_world as world

from aspen.overlog import compile_program
from aspen.streamsql import Compiled

Facts = dict[str, set[tuple]]
Binding = dict[str, int]

SETS = ("a", "b", "c")
BESTS = ("m", "n")
HANDED = "s"
VARIABLES = "XYZW"


@dataclass(frozen=True)
class Atom:
    """`name(X, Y)`, with a cost behind where the predicate has one."""

    name: str
    arguments: tuple[str, ...]
    negated: bool = False

    @property
    def costs(self) -> bool:
        return self.name in (*BESTS, HANDED, "link", "wall")


@dataclass(frozen=True)
class Rule:
    """One rule; of those with a cost, it is what `best` makes of the body's costs."""

    head: str
    arguments: tuple[str, ...]
    atoms: tuple[Atom, ...]
    apart: bool

    def text(self, best: str) -> str:
        costs: list[str] = []
        body: list[str] = []
        for place, atom in enumerate(self.atoms):
            spelt = list(atom.arguments)
            if atom.costs:
                costs.append(f"C{place}")
                spelt.append("_" if atom.negated or self.head in SETS else costs[-1])
            body.append(f"{'!' * atom.negated}{atom.name}({', '.join(spelt)})")
        head = list(self.arguments)
        if self.apart:
            body.append(f"{self.arguments[0]} != {self.arguments[1]}")
        if self.head not in SETS:
            known = [
                f"C{i}" for i, atom in enumerate(self.atoms) if atom.costs and not atom.negated
            ]
            made = " + ".join(known) if best == "min" else known[0] if known else ""
            for other in known[1:] if best == "max" else ():
                made = f"least({made}, {other})"
            body.append(f"Cost = {made or 1}")
            head.append(f"{best}<Cost>" if self.head in BESTS else "Cost")
        return f"{self.head}({', '.join(head)}) :- {', '.join(body)}."


@dataclass(frozen=True)
class Program:
    """Rules, and whether costs are added up and minimised, or the least one is maximised."""

    rules: tuple[Rule, ...]
    best: str

    @property
    def text(self) -> str:
        return "\n".join(rule.text(self.best) for rule in self.rules)

    def compiled(self) -> list[Compiled]:
        return compile_program(self.text, world.CATALOG)

    @property
    def heads(self) -> list[str]:
        return list(dict.fromkeys(rule.head for rule in self.rules))

    def answers(self, tables: Facts) -> Facts:
        """Apply all rules to what they gave, again and again, until they give the same."""
        facts: Facts = {head: set() for head in self.heads}
        while True:
            every = {**tables, **facts}
            found: Facts = {head: set() for head in self.heads}
            for rule in self.rules:
                found[rule.head].update(self._rows(rule, every))
            for head in found.keys() & {*BESTS}:
                found[head] = self._chosen(found[head])
            if found == facts:
                return facts
            facts = found

    def _chosen(self, rows: set[tuple]) -> set[tuple]:
        best = min if self.best == "min" else max
        pairs = {row[:2] for row in rows}
        return {(*pair, best(row[2] for row in rows if row[:2] == pair)) for pair in pairs}

    def _rows(self, rule: Rule, facts: Facts) -> Iterator[tuple]:
        for binding, costs in _bindings(rule.atoms, facts):
            row = tuple(binding[argument] for argument in rule.arguments)
            if rule.apart and row[0] == row[1]:
                continue
            if rule.head in SETS:
                yield row
            elif costs:
                yield (*row, sum(costs) if self.best == "min" else min(costs))
            else:
                yield (*row, 1)


def _bindings(atoms: tuple[Atom, ...], facts: Facts) -> Iterator[tuple[Binding, list[int]]]:
    found: list[tuple[Binding, list[int]]] = [({}, [])]
    for atom in sorted(atoms, key=lambda atom: atom.negated):
        further: list[tuple[Binding, list[int]]] = []
        for binding, costs in found:
            matches = [
                merged
                for row in facts[atom.name]
                if (merged := _matched(atom, row, binding)) is not None
            ]
            if atom.negated:
                further += [] if matches else [(binding, costs)]
                continue
            for merged, row in matches:
                further.append((merged, [*costs, row[2]] if atom.costs else costs))
        found = further
    return iter(found)


def _matched(atom: Atom, row: tuple, binding: Binding) -> tuple[Binding, tuple] | None:
    merged = dict(binding)
    for argument, value in zip(atom.arguments, row, strict=False):
        if merged.setdefault(argument, value) != value:
            return None
    return merged, row


@st.composite
def _rule(draw, head: str, readable: tuple[str, ...]) -> Rule:
    """A body that leads from one variable to the next, in either direction."""
    length = draw(st.integers(1, 3))
    walk = list(VARIABLES[: length + 1])
    atoms: list[Atom] = []
    for ends in pairwise(walk):
        pair = ends if draw(st.integers(0, 2)) else ends[::-1]
        atoms.append(Atom(draw(st.sampled_from(readable)), tuple(pair)))
    arguments = (walk[0], walk[-1])
    if draw(st.integers(0, 3)) == 0:
        arguments = tuple(draw(st.lists(st.sampled_from(walk), min_size=2, max_size=2)))
    extra = draw(st.sampled_from(["", "", "", "lit", "not lit", "not wall"]))
    if extra == "not wall":
        pair = draw(st.lists(st.sampled_from(walk), min_size=2, max_size=2))
        atoms.append(Atom("wall", tuple(pair), negated=True))
    elif extra:
        atoms.append(Atom("lit", (draw(st.sampled_from(walk)),), negated=extra == "not lit"))
    order = draw(st.permutations(atoms))
    return Rule(head, arguments, tuple(order), draw(st.integers(0, 4)) == 0)


@st.composite
def programs(draw) -> Program:
    """Random programs; each predicate begins with rows of a table, or another one begins it."""
    sets = SETS[: draw(st.integers(0, 3))]
    bests = BESTS[: draw(st.integers(0 if sets else 1, 2))]
    handed = (HANDED,) if bests and draw(st.booleans()) else ()
    rules: list[Rule] = []
    for head in (*sets, *bests, *handed):
        # A set that hands costs on may not hand on its own: they would add up for ever.
        readable = (*sets, *bests, "link", "wall")
        readable += handed if head != HANDED else ()
        if head in (sets[:1] or bests[:1]) or draw(st.integers(0, 3)):
            rules.append(draw(_rule(head, ("link", "wall"))))
        rules += draw(st.lists(_rule(head, readable), min_size=1, max_size=2))
    return Program(tuple(draw(st.permutations(rules))), draw(st.sampled_from(["min", "max"])))
