"""Adorn: which columns of a recursion are bound by demand, and how a rule hands bindings on.

    path(x, z) :- link(x, y), path(y, z)       demanded by x: path^bf
    sideways    x from the demand, y from link(x, y): the atom path(y, z) is demanded by y

Bindings pass sideways through equal columns alone, so that every demanded value is a value of the
demand or of a base row, and demand ends wherever the recursion does. An atom takes part only where
it is tied to what is bound: `path` demanded by z hands on z and nothing else.

Source: Bancilhon et al., Magic Sets (PODS 1986); Beeri, Ramakrishnan, On the Power of Magic (1991).
Own: a call passes bindings only through the atoms they come from, and several adornments of one
relation are several relations of one recursion.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from aspen.algebra.block import Block, equal_classes, equated
from aspen.algebra.expr import Col
from aspen.algebra.plan import Recursive, RecursiveRef

MOST_ADORNED = 8
"""Adorned relations of one recursion; more would cost more than they save."""


@dataclass(frozen=True, slots=True)
class Adorned:
    """A relation of a recursion, and the indices of the columns that demand binds."""

    relation: str
    bound: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AdornedAtom:
    """A recursive atom of a rule, and where its bindings come from.

    Args:
        atom: its number in the rule.
        reads: what it demands.
        through: numbers of the atoms that the bindings pass through.
        values: columns that give them, one for each bound index of `reads`.
    """

    atom: int
    reads: Adorned
    through: frozenset[int]
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AdornedRule:
    """A rule for one adornment of its head.

    Args:
        classes: columns that are equal, those of the demand (`wanted`) among them.
    """

    head: Adorned
    rule: Block
    calls: tuple[AdornedAtom, ...]
    classes: tuple[frozenset[str], ...]


def wanted(at: int) -> str:
    """Name the demand's value for a column of the head."""
    return f"d.c{at}"


def is_trivial(rule: AdornedRule, call: AdornedAtom) -> bool:
    """Whether a call demands just what its head was demanded by."""
    own = tuple(wanted(at) for at in rule.head.bound)
    return call.reads == rule.head and call.values == own


def adorn(
    root: Adorned, relations: Mapping[str, Recursive], rules: Mapping[str, tuple[Block, ...]]
) -> dict[Adorned, tuple[AdornedRule, ...]] | None:
    """Follow demand from one relation to all that it reaches.

    Args:
        rules: of each relation, those that read the recursion.

    Returns:
        The rules of every adorned relation, the root first; None where a recursive atom would be
        demanded by nothing, so that all of its relation were needed.
    """
    allowed = {name: _bindable(relation) for name, relation in relations.items()}
    found: dict[Adorned, tuple[AdornedRule, ...]] = {}
    waiting = [root]
    while waiting:
        head = waiting.pop(0)
        if head in found:
            continue
        if len(found) == MOST_ADORNED:
            return None
        made: list[AdornedRule] = []
        for rule in rules[head.relation]:
            adorned = _adorned(head, rule, allowed)
            if adorned is None:
                return None
            made.append(adorned)
            waiting += [call.reads for call in adorned.calls]
        found[head] = tuple(made)
    return found


def _bindable(relation: Recursive) -> frozenset[int]:
    """Returns the indices demand may bind: with MIN or MAX, those that tell groups apart."""
    keys = None if relation.best is None else relation.best.keys
    return frozenset(
        at for at, column in enumerate(relation.columns) if keys is None or column.name in keys
    )


def _adorned(
    head: Adorned, rule: Block, allowed: Mapping[str, frozenset[int]]
) -> AdornedRule | None:
    classes = _classes(rule, head)
    of = {name: equal for equal in classes for name in equal}
    # What each class of equal columns is bound through; classes that are not bound are absent.
    have = {of[wanted(at)]: frozenset[int]() for at in head.bound if wanted(at) in of}
    plain = [n for n, atom in enumerate(rule.inputs) if not atom.recursive and not atom.negated]
    calls: list[AdornedAtom] = []
    waiting = [n for n, atom in enumerate(rule.inputs) if atom.recursive]
    while waiting:
        _take_in(rule, plain, have, of)
        bound = {number: _bound(rule, number, have, of, allowed) for number in waiting}
        atom = max(waiting, key=lambda number: (len(bound[number]), -number))
        if not bound[atom]:
            return None
        own = rule.names(atom)
        through = frozenset[int]().union(*(have[of[own[at]]] for at in bound[atom]))
        values = tuple(_giver(rule, of[own[at]], through) for at in bound[atom])
        reads = rule.inputs[atom].plan
        assert isinstance(reads, RecursiveRef)
        calls.append(AdornedAtom(atom, Adorned(reads.name, bound[atom]), through, values))
        waiting.remove(atom)
        for name in own:
            have.setdefault(of[name], through | {atom})
    return AdornedRule(head, rule, tuple(calls), classes)


def _take_in(
    rule: Block,
    plain: list[int],
    have: dict[frozenset[str], frozenset[int]],
    of: Mapping[str, frozenset[str]],
) -> None:
    """Take in the atoms tied to what is bound; what they bind is then bound through them."""
    moving = True
    while moving:
        moving = False
        for number in list(plain):
            own = [of[name] for name in rule.names(number)]
            tied = [have[equal] for equal in own if equal in have]
            if not tied:
                continue
            through = frozenset({number}).union(*tied)
            for equal in own:
                have.setdefault(equal, through)
            plain.remove(number)
            moving = True


def _bound(
    rule: Block,
    number: int,
    have: Mapping[frozenset[str], object],
    of: Mapping[str, frozenset[str]],
    allowed: Mapping[str, frozenset[int]],
) -> tuple[int, ...]:
    reads = rule.inputs[number].plan
    assert isinstance(reads, RecursiveRef)
    names = rule.names(number)
    return tuple(at for at in sorted(allowed[reads.name]) if of[names[at]] in have)


def _giver(rule: Block, equal: frozenset[str], through: Iterable[int]) -> str:
    """Choose the column that gives a class's value: the demand's own, if it has one."""
    theirs = {name for number in through for name in rule.names(number)}
    given = [name for name in equal if name.startswith("d.") or name in theirs]
    return min(given, key=lambda name: (not name.startswith("d."), name))


def _classes(rule: Block, head: Adorned) -> tuple[frozenset[str], ...]:
    """Returns the columns a rule makes equal, of one type; each column is in one class."""
    types = {
        name: column.type
        for number, atom in enumerate(rule.inputs)
        if not atom.negated
        for name, column in zip(rule.names(number), atom.plan.columns, strict=True)
    }
    pairs = [
        (one, other)
        for one, other in equated(rule.conditions)
        if types.get(one, 1) is types.get(other, 2)
    ]
    for index in head.bound:
        output = rule.outputs[index]
        if isinstance(output, Col) and output.name in types:
            pairs.append((wanted(index), output.name))
    return equal_classes(pairs, types)
