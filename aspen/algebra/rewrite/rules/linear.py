"""The other way round a transitive closure, so that what is asked for is passed on unchanged."""

from __future__ import annotations

from dataclasses import dataclass, replace

from aspen.algebra.expr import (
    Call,
    Col,
    Const,
    Expr,
    Op,
    columns_in,
    conjunction,
    conjuncts,
    substitute,
)
from aspen.algebra.linearise import Atom, NotMaintainable, Rule, linearise, names_of, plan_of
from aspen.algebra.plan import Filter, Fixpoint, Plan, Project, Scan
from aspen.algebra.rewrite.rule import Rule as RewriteRule


@dataclass(frozen=True, slots=True)
class Closure:
    """A recursion that walks along one relation, beginning with that relation itself.

    Args:
        rule: one recursive atom, and the edges.
        changed: places of the columns an edge changes.
        carried: places of those that stay, in the order of `changed`.
        begins: columns of the edges that equal the recursion's changed ones.
        cost: place of the cost, None where every row counts.
    """

    rule: Rule
    reads: int
    changed: tuple[int, ...]
    carried: tuple[int, ...]
    begins: tuple[str, ...]
    cost: int | None


def closure(plan: Plan) -> Closure | None:
    """Read a recursion as the closure of its base; None where it is no such thing."""
    if not isinstance(plan, Fixpoint) or plan.others or plan.most is not None:
        return None
    found = walk_of(plan)
    if found is None:
        return None
    edges = found.rule.atoms[1 - found.reads].plan
    own = names_of(found.rule, 1 - found.reads)
    outputs: dict[int, Expr] = {place: found.rule.outputs[place] for place in found.changed}
    outputs |= {place: Col(name) for place, name in zip(found.carried, found.begins, strict=True)}
    if found.cost is not None:
        made = _length(found.rule.outputs[found.cost], _cost_name(found))
        assert made is not None
        outputs[found.cost] = made
    tests = conjunction(c for c in found.rule.conditions if columns_in(c) <= {*own})
    columns = tuple(zip(own, edges.columns, strict=True))
    names: dict[str, Expr] = {name: Col(column.name) for name, column in columns}
    side: Plan = edges if tests is None else Filter(edges, substitute(tests, names))
    expected = Project(
        side,
        tuple((c, substitute(outputs[place], names)) for place, c in enumerate(plan.columns)),
    )
    spelt = _spelt(expected)
    return found if spelt is not None and spelt == _spelt(plan.base) else None


def walk_of(plan: Fixpoint) -> Closure | None:
    """Read a recursion's step as one along edges; it says nothing of the base."""
    try:
        step = linearise(plan.step, (plan.name,))
    except NotMaintainable:
        return None
    if len(step.rules) != 1 or step.flat:
        return None
    (rule,) = step.rules
    reads = [number for number, atom in enumerate(rule.atoms) if atom.recursive]
    if (
        len(rule.atoms) != len(("view", "edges"))
        or len(reads) != 1
        or rule.atoms[1 - reads[0]].negated
    ):
        return None
    own = names_of(rule, reads[0])
    cost = _cost(plan, rule, own)
    if plan.best is not None and cost is None:
        return None
    places = [place for place in range(len(plan.columns)) if place != cost]
    carried = tuple(place for place in places if rule.outputs[place] == Col(own[place]))
    changed = tuple(place for place in places if place not in carried)
    edges = {*names_of(rule, 1 - reads[0])}
    if len(carried) != len(changed) or any(
        not isinstance(rule.outputs[place], Col) or not columns_in(rule.outputs[place]) <= edges
        for place in changed
    ):
        return None
    length = None if cost is None else _length(rule.outputs[cost], own[cost])
    if cost is not None and length is None:
        return None
    begins: dict[int, str] = {}
    for condition in rule.conditions:
        if columns_in(condition) <= edges or _bounds(condition, cost, own, length):
            continue
        match condition:
            case Op("=", Col(one), Col(other)):
                name, edge = (one, other) if one in own else (other, one)
                place = own.index(name) if name in own else -1
                if place not in changed or place in begins or edge not in edges:
                    return None
                begins[place] = edge
            case _:
                return None
    if {*begins} != {*changed}:
        return None
    types = [column.type for column in plan.columns]
    if [types[place] for place in changed] != [types[place] for place in carried]:
        return None
    return Closure(rule, reads[0], changed, carried, tuple(begins[p] for p in changed), cost)


def _cost(plan: Fixpoint, rule: Rule, own: tuple[str, ...]) -> int | None:
    """The place of a column that adds up along the edges: the one chosen by, or the only."""
    best = plan.best
    names = [column.name for column in plan.columns]
    if best is None:
        adding = [n for n, name in enumerate(own) if _length(rule.outputs[n], name) is not None]
        return adding[0] if len(adding) == 1 else None
    if best.more or {*best.keys, best.column} != {*names}:
        return None
    return names.index(best.column)


def _bounds(condition: Expr, cost: int | None, own: tuple[str, ...], length: Expr | None) -> bool:
    """Whether a condition limits how many edges there are, each as long as any other."""
    match condition, length:
        case Op("<" | "<=", Col(name), Const(int() | float())), Const(int() | float() as each):
            return cost is not None and name == own[cost] and each >= 0
    return False


def _cost_name(found: Closure) -> str:
    assert found.cost is not None
    return names_of(found.rule, found.reads)[found.cost]


def _length(expr: Expr, cost: str) -> Expr | None:
    """Returns what an edge adds to the cost, or bounds it by; None where it does neither."""
    match expr:
        case Op("+", one, other) | Call("greatest" | "least", (one, other)):
            for this, rest in ((one, other), (other, one)):
                if this == Col(cost) and cost not in columns_in(rest):
                    return rest
    return None


@dataclass(frozen=True, slots=True)
class _Spelt:
    """A selection and projection of one relation, whatever its columns are called."""

    relation: str
    tests: frozenset[str]
    outputs: tuple[Expr, ...]


def _spelt(plan: Plan) -> _Spelt | None:
    match plan:
        case Scan(relation, _, columns):
            places = tuple(Col(str(place)) for place in range(len(columns)))
            return _Spelt(relation, frozenset(), places)
        case Filter(child) | Project(child):
            inner = _spelt(child)
            if inner is None:
                return None
            names = {c.name: e for c, e in zip(child.columns, inner.outputs, strict=True)}
            if isinstance(plan, Project):
                return replace(
                    inner, outputs=tuple(substitute(expr, names) for _, expr in plan.outputs)
                )
            more = {repr(substitute(part, names)) for part in conjuncts(plan.predicate)}
            return replace(inner, tests=inner.tests | more)
        case _:
            return None


def turned(plan: Fixpoint, found: Closure) -> Fixpoint:
    """A closure the other way round: what it changed it carries, what it carried changes."""
    rule, own = found.rule, names_of(found.rule, found.reads)
    edges = {*names_of(rule, 1 - found.reads)}
    outputs = list(rule.outputs)
    bounded = edges if found.cost is None else edges | {own[found.cost]}
    conditions = [
        c for c in rule.conditions if columns_in(c) <= edges or columns_in(c) <= bounded - edges
    ]
    for changed, carried, begin in zip(found.changed, found.carried, found.begins, strict=True):
        outputs[changed] = Col(own[changed])
        outputs[carried] = Col(begin)
        conditions.append(Op("=", Col(own[carried]), rule.outputs[changed]))
    atoms = (rule.atoms[found.reads], rule.atoms[1 - found.reads])
    numbers = {found.reads: 0, 1 - found.reads: 1}
    names: dict[str, Expr] = {
        name: Col(f"a{new}.c{place}")
        for old, new in numbers.items()
        for place, name in enumerate(names_of(rule, old))
    }
    other = Rule(
        tuple(Atom(atom.plan) for atom in atoms),
        tuple(substitute(condition, names) for condition in conditions),
        tuple(substitute(output, names) for output in outputs),
    )
    return Fixpoint(plan.name, plan.columns, plan.base, plan_of(other, plan.columns), plan.best)


def wants_turning(plan: Fixpoint, found: Closure, reads: list[frozenset[str]]) -> bool:
    """Whether what is asked for are columns the step changes, and none it carries."""
    names = [column.name for column in plan.columns]
    changed = {names[place] for place in found.changed}
    carried = {names[place] for place in found.carried}
    return any(one and one <= changed for one in reads) and not any(
        one and one <= carried for one in reads
    )


def _turn(plan: Plan) -> Plan | None:
    match plan:
        case Filter(Fixpoint() as fixpoint, predicate):
            found = walk_of(fixpoint)
            reads = [columns_in(part) for part in conjuncts(predicate)]
            if found is None or not wants_turning(fixpoint, found, reads):
                return None
            return Filter(turned(fixpoint, found), predicate)
    return None


def _is_closure(plan: Plan) -> bool:
    return isinstance(plan, Filter) and closure(plan.child) is not None


# Claim: E ∪ E∘X and E ∪ X∘E are both all chains of E: composing is associative, and costs that are
# added (or bounded) along a chain do not depend on where it is begun.
# Guard: the base is the edges themselves.
LINEAR_OTHER_WAY = RewriteRule(
    name="linear_other_way",
    claim="filter[p(x)](μX. E ∪ E∘X) = filter[p(x)](μX. E ∪ X∘E), which carries x",
    counter_example="a base other than the edges: ways that end in its rows would begin there",
    match=lambda plan: isinstance(plan, Filter) and isinstance(plan.child, Fixpoint),
    guard=_is_closure,
    build=_turn,
)
