"""Which predicates rest on which: their order, and the cycles that have no least answer."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import pairwise

import networkx as nx

from aspen.components import directed, strong_components
from aspen.errors import Position
from aspen.overlog.errors import MisplacedHeadAggregate, NoBaseRule, NonStratifiedRules
from aspen.overlog.syntax import OverlogRule

_MONOTONE = ("min", "max")

Rules = Mapping[str, tuple[OverlogRule, ...]]


@dataclass(frozen=True, slots=True)
class _PredicateEdge:
    """One predicate reads another, perhaps through a negation or an aggregate."""

    at: Position
    through: str


def stratify(rules: Rules) -> list[tuple[str, ...]]:
    """Part predicates into those that read each other, each part behind those it reads.

    Raises:
        NonStratifiedRules: a cycle passes a negation, or an aggregate other than min and max.
        NoBaseRule: nothing begins a recursion.
        MisplacedHeadAggregate: rules of one predicate aggregate differently.
    """
    edges = {name: _edges(found, rules) for name, found in rules.items()}
    for name, found in edges.items():
        for other, edge in found.items():
            if edge.through:
                _refuse_circle(name, other, edges)
    parts = strong_components(edges)
    for part in parts:
        if is_recursive(part, rules):
            _check_bases(part, rules)
        for name in part:
            _check_aggregates(rules[name])
    return parts


def is_recursive(part: tuple[str, ...], rules: Rules) -> bool:
    """Whether the predicates of a part read themselves."""
    return any(reads_any(rule, part) for name in part for rule in rules[name])


def reads_any(rule: OverlogRule, predicates: Collection[str]) -> bool:
    """Whether a rule reads one of some predicates."""
    return any(atom.predicate in predicates for atom in rule.atoms)


def _edges(found: tuple[OverlogRule, ...], rules: Rules) -> dict[str, _PredicateEdge]:
    edges: dict[str, _PredicateEdge] = {}
    for rule in found:
        function = next((f for _, f in rule.head.aggregates if f not in _MONOTONE), "")
        for atom in rule.atoms:
            if atom.predicate not in rules:
                continue
            through = "not" if atom.negated else f"{function}<>" if function else ""
            if atom.predicate not in edges or (through and not edges[atom.predicate].through):
                edges[atom.predicate] = _PredicateEdge(atom.at, through)
    return edges


def _refuse_circle(name: str, other: str, edges: Mapping[str, dict[str, _PredicateEdge]]) -> None:
    graph = directed(edges)
    if not nx.has_path(graph, other, name):
        return
    cycle = [name, *nx.shortest_path(graph, other, name)]
    spelt = _spelt(cycle, edges)
    raise NonStratifiedRules(
        f"negation or aggregation in a cycle has no least answer: {spelt}",
        position=edges[name][other].at,
        found=spelt,
        exists=("min<…>, max<…>",),
        attempt="negate or aggregate in a rule that reads the finished predicate",
    )


def _spelt(cycle: list[str], edges: Mapping[str, dict[str, _PredicateEdge]]) -> str:
    words = [cycle[0]]
    for one, other in pairwise(cycle):
        through = edges[one][other].through
        words += [through, other] if through else [other]
    return " → ".join(words)


def _check_bases(part: tuple[str, ...], rules: Rules) -> None:
    if not all(reads_any(rule, part) for name in part for rule in rules[name]):
        return
    names = " and ".join(part)
    several = len(part) > 1
    raise NoBaseRule(
        f"every rule of {names} reads {'one of them' if several else names}:"
        f" nothing begins {'them' if several else 'it'}",
        position=rules[part[0]][0].head.at,
        found=names,
        attempt=f"add a rule that does not read {'any of them' if several else 'it'}",
    )


def _check_aggregates(rules: tuple[OverlogRule, ...]) -> None:
    """Aggregates of several rules are taken over all of them, so they must be the same."""
    first, name = rules[0].head.aggregates, rules[0].head.predicate
    for rule in rules[1:]:
        if rule.head.aggregates != first:
            raise MisplacedHeadAggregate(
                f"the rules of {name} aggregate differently",
                position=rule.head.at,
                found=_listed(rule),
                exists=(_listed(rules[0]),),
                attempt="give every rule the same aggregates in the same places",
            )
    summing = next((function for _, function in first if function not in _MONOTONE), "")
    if len(rules) > 1 and summing:
        raise MisplacedHeadAggregate(
            f"{summing}<> over several rules: it is not clear which rows are the same",
            position=rules[1].head.at,
            found=f"{summing}<…>",
            exists=("min<…>", "max<…>"),
            attempt="unite the rules in a predicate without aggregate, then aggregate that",
        )


def _listed(rule: OverlogRule) -> str:
    found = [f"{function}<…> at {index + 1}" for index, function in rule.head.aggregates]
    return ", ".join(found) or "no aggregate"
