"""Which predicates rest on which: their order, and the circles that have no least answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from aspen.errors import Position
from aspen.overlog.errors import (
    MisplacedAggregate,
    MutualRecursion,
    NoBase,
    NonLinear,
    NonStratified,
)
from aspen.overlog.syntax import Rule

_MONOTONE = ("min", "max")

Rules = Mapping[str, tuple[Rule, ...]]


@dataclass(frozen=True, slots=True)
class _Edge:
    """One predicate reads another, perhaps through a negation or an aggregate."""

    at: Position
    through: str


def stratify(rules: Rules) -> list[str]:
    """Order predicates so that each comes behind those it reads.

    Raises:
        NonStratified: a circle passes a negation, or an aggregate other than min and max.
        MutualRecursion: predicates read each other.
        NonLinear: a rule reads its head twice.
        NoBase: nothing begins a recursion.
        MisplacedAggregate: rules of one predicate aggregate differently.
    """
    edges = {name: _edges(found, rules) for name, found in rules.items()}
    for name, found in edges.items():
        for other, edge in found.items():
            if edge.through:
                _refuse_circle(name, other, edges)
    for name in rules:
        cycle = _path(edges, name, name, longer=True)
        if cycle is not None:
            spelt = _spelt(cycle, edges)
            raise MutualRecursion(
                f"{' and '.join(sorted(set(cycle)))} read each other in a circle: {spelt}",
                position=edges[cycle[0]][cycle[1]].at,
                found=spelt,
                attempt="write one predicate with a further argument that tells the two apart",
            )
        _check_recursion(name, rules[name])
        _check_aggregates(name, rules[name])
    return _ordered(edges)


def is_recursive(name: str, rule: Rule) -> bool:
    """Whether a rule reads the predicate it derives."""
    return bool(rule.reads(name))


def _edges(found: tuple[Rule, ...], rules: Rules) -> dict[str, _Edge]:
    edges: dict[str, _Edge] = {}
    for rule in found:
        function = next((f for _, f in rule.head.aggregates if f not in _MONOTONE), "")
        for atom in rule.atoms:
            if atom.predicate not in rules:
                continue
            through = "not" if atom.negated else f"{function}<>" if function else ""
            if atom.predicate not in edges or (through and not edges[atom.predicate].through):
                edges[atom.predicate] = _Edge(atom.at, through)
    return edges


def _refuse_circle(name: str, other: str, edges: Mapping[str, dict[str, _Edge]]) -> None:
    back = [name] if name == other else _path(edges, other, name)
    if back is None:
        return
    cycle = [name, *back]
    spelt = _spelt(cycle, edges)
    raise NonStratified(
        f"negation or aggregation in a circle has no least answer: {spelt}",
        position=edges[name][other].at,
        found=spelt,
        exists=("min<…>, max<…>",),
        attempt="negate or aggregate in a rule that reads the finished predicate",
    )


def _path(
    edges: Mapping[str, dict[str, _Edge]], start: str, goal: str, *, longer: bool = False
) -> list[str] | None:
    """Give a way along the edges, both ends included.

    Args:
        longer: whether an edge from a predicate to itself is left out.
    """
    stack = [[start]]
    seen: set[str] = set()
    while stack:
        path = stack.pop()
        for other in edges[path[-1]]:
            if other == path[-1] and longer:
                continue
            if other == goal:
                return [*path, goal]
            if other not in seen:
                seen.add(other)
                stack.append([*path, other])
    return None


def _spelt(cycle: list[str], edges: Mapping[str, dict[str, _Edge]]) -> str:
    words = [cycle[0]]
    for one, other in pairwise(cycle):
        through = edges[one][other].through
        words += [through, other] if through else [other]
    return " → ".join(words)


def _check_recursion(name: str, rules: tuple[Rule, ...]) -> None:
    for rule in rules:
        own = rule.reads(name)
        if len(own) > 1:
            raise NonLinear(
                f"a rule of {name} reads {name} {len(own)} times; linear recursion reads it once",
                position=own[1].at,
                found=name,
                attempt=f"join {name} with what its base reads: one hop per step reaches as far",
            )
    if all(is_recursive(name, rule) for rule in rules):
        raise NoBase(
            f"every rule of {name} reads {name}: nothing begins it",
            position=rules[0].head.at,
            found=name,
            attempt="add a rule that does not read it",
        )


def _check_aggregates(name: str, rules: tuple[Rule, ...]) -> None:
    """Aggregates of several rules are taken over all of them, so they must be the same."""
    first = rules[0].head.aggregates
    recursive = any(is_recursive(name, rule) for rule in rules)
    if recursive and len(first) > 1:
        raise MisplacedAggregate(
            f"{name} is recursive: it can keep one min or one max",
            position=rules[0].head.at,
            found=", ".join(f"{function}<…>" for _, function in first),
            attempt="one predicate for each",
        )
    for rule in rules[1:]:
        if rule.head.aggregates != first:
            raise MisplacedAggregate(
                f"the rules of {name} aggregate differently",
                position=rule.head.at,
                found=_listed(rule),
                exists=(_listed(rules[0]),),
                attempt="give every rule the same aggregates in the same places",
            )
    summing = next((function for _, function in first if function not in _MONOTONE), "")
    if len(rules) > 1 and summing:
        raise MisplacedAggregate(
            f"{summing}<> over several rules: it is not clear which rows are the same",
            position=rules[1].head.at,
            found=f"{summing}<…>",
            exists=("min<…>", "max<…>"),
            attempt="unite the rules in a predicate without aggregate, then aggregate that",
        )


def _listed(rule: Rule) -> str:
    found = [f"{function}<…> at {place + 1}" for place, function in rule.head.aggregates]
    return ", ".join(found) or "no aggregate"


def _ordered(edges: Mapping[str, dict[str, _Edge]]) -> list[str]:
    ordered: list[str] = []

    def visit(name: str) -> None:
        for other in edges[name]:
            if other != name and other not in ordered:
                visit(other)
        if name not in ordered:
            ordered.append(name)

    for name in edges:
        visit(name)
    return ordered
