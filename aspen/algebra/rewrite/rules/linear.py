"""The other way round a transitive closure, so that what is asked for is passed on unchanged."""

from __future__ import annotations

from dataclasses import dataclass

from aspen.algebra.block import Block, NotABlock, block_of, column_name, plan_of
from aspen.algebra.edge_rule import EdgeRule
from aspen.algebra.expr import Col, Const, Expr, Op, columns_in, conjuncts, substitute
from aspen.algebra.linearise import NotMaintainable, linearise
from aspen.algebra.plan import Filter, Fixpoint, Plan, Project, Scan
from aspen.algebra.renaming import filtered
from aspen.algebra.rewrite.rule import Rule


@dataclass(frozen=True, slots=True)
class Closure:
    """A recursion along one relation, beginning with that relation itself.

    Args:
        rule: one recursive input, and the edges.
        changed: indices of the columns an edge changes.
        invariant: indices of those that stay, in the order of `changed`.
        begins: columns of the edges that equal the recursion's changed ones.
        cost: index of the cost, None where every row counts.
    """

    rule: EdgeRule
    changed: tuple[int, ...]
    invariant: tuple[int, ...]
    begins: tuple[str, ...]
    cost: int | None

    @property
    def edges(self) -> int:
        """The number of the edges among the rule's inputs."""
        return self.rule.rest[0]


def closure(plan: Plan) -> Closure | None:
    """Reads a recursion as the closure of its base; None where it is no such thing."""
    if not isinstance(plan, Fixpoint) or plan.others or plan.most is not None:
        return None
    found = closing(plan)
    if found is None:
        return None
    block = found.rule.block
    edges = block.inputs[found.edges].plan
    own = block.names(found.edges)
    outputs: dict[int, Expr] = {index: block.outputs[index] for index in found.changed}
    outputs |= {index: Col(name) for index, name in zip(found.invariant, found.begins, strict=True)}
    if found.cost is not None:
        length = found.rule.length(found.cost)
        assert length is not None
        outputs[found.cost] = length[1]
    tests = [c for c in block.conditions if columns_in(c) <= {*own}]
    columns = zip(own, edges.columns, strict=True)
    names: dict[str, Expr] = {name: Col(column.name) for name, column in columns}
    side = filtered(edges, (substitute(test, names) for test in tests))
    expected = Project(
        side,
        tuple((c, substitute(outputs[index], names)) for index, c in enumerate(plan.columns)),
    )
    return found if _same(expected, plan.base) else None


def closing(plan: Fixpoint) -> Closure | None:
    """Reads a recursion's step as one along edges; it says nothing of the base."""
    try:
        step = linearise(plan.step, (plan.name,))
    except NotMaintainable:
        return None
    if len(step.rules) != 1 or step.flat:
        return None
    rule = EdgeRule.of(step.rules[0])
    if rule is None or len(rule.rest) != 1:
        return None
    cost = _cost(plan, rule)
    if plan.best is not None and cost is None:
        return None
    indices = [index for index in range(len(plan.columns)) if index != cost]
    stays = rule.invariant()
    invariant = tuple(index for index in indices if index in stays)
    changed = tuple(index for index in indices if index not in stays)
    edges = {*rule.block.names(rule.rest[0])}
    if len(invariant) != len(changed) or any(
        not isinstance(rule.block.outputs[index], Col) or rule.recursive(rule.block.outputs[index])
        for index in changed
    ):
        return None
    length = None if cost is None else rule.length(cost)
    if cost is not None and length is None:
        return None
    found, others = rule.begins(changed)
    begins = [one.name for one in map(found.get, changed) if isinstance(one, Col)]
    if len(begins) < len(changed) or not all(
        columns_in(one) <= edges or _bounds(one, cost, rule.own, length and length[1])
        for one in others
    ):
        return None
    types = [column.type for column in plan.columns]
    if [types[index] for index in changed] != [types[index] for index in invariant]:
        return None
    return Closure(rule, changed, invariant, tuple(begins), cost)


def _cost(plan: Fixpoint, rule: EdgeRule) -> int | None:
    """Returns the index of the column that adds up along edges: the one chosen by, or the only."""
    best = plan.best
    names = [column.name for column in plan.columns]
    if best is None:
        adding = [index for index in range(len(names)) if rule.length(index) is not None]
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


def _same(one: Plan, other: Plan) -> bool:
    """Whether two plans are one selection and projection of one relation."""
    try:
        blocks = block_of(one), block_of(other)
    except NotABlock:
        return False
    first, second = (block.inputs[0].plan for block in blocks)
    return (
        all(len(block.inputs) == 1 for block in blocks)
        and isinstance(first, Scan)
        and isinstance(second, Scan)
        and first.relation == second.relation
        # repr tells 1 from 1.0 and TRUE, which are equal in Python.
        and {*map(repr, blocks[0].conditions)} == {*map(repr, blocks[1].conditions)}
        and blocks[0].outputs == blocks[1].outputs
    )


def turned(plan: Fixpoint, found: Closure) -> Fixpoint:
    """A closure the other way round: what it changed stays, what stayed changes."""
    rule, own, block = found.rule, found.rule.own, found.rule.block
    edges = {*block.names(found.edges)}
    outputs = list(block.outputs)
    bounded = edges if found.cost is None else edges | {own[found.cost]}
    conditions = [
        c for c in block.conditions if columns_in(c) <= edges or columns_in(c) <= bounded - edges
    ]
    for changed, stays, begin in zip(found.changed, found.invariant, found.begins, strict=True):
        outputs[changed] = Col(own[changed])
        outputs[stays] = Col(begin)
        conditions.append(Op("=", Col(own[stays]), block.outputs[changed]))
    order = (rule.reads, found.edges)
    names: dict[str, Expr] = {
        name: Col(column_name(new, index))
        for new, old in enumerate(order)
        for index, name in enumerate(block.names(old))
    }
    other = Block(
        tuple(block.inputs[old] for old in order),
        tuple(substitute(condition, names) for condition in conditions),
        plan.columns,
        tuple(substitute(output, names) for output in outputs),
    )
    return Fixpoint(plan.name, plan.columns, plan.base, plan_of(other), plan.best)


def wants_turning(plan: Fixpoint, found: Closure, reads: list[frozenset[str]]) -> bool:
    """Whether what is asked for are columns the step changes, and none that stay."""
    names = [column.name for column in plan.columns]
    changed = {names[index] for index in found.changed}
    invariant = {names[index] for index in found.invariant}
    return any(one and one <= changed for one in reads) and not any(
        one and one <= invariant for one in reads
    )


def _turn(plan: Plan) -> Plan | None:
    match plan:
        case Filter(Fixpoint() as fixpoint, predicate):
            found = closing(fixpoint)
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
LINEAR_OTHER_WAY = Rule(
    name="linear_other_way",
    claim="filter[p(x)](μX. E ∪ E∘X) = filter[p(x)](μX. E ∪ X∘E), in which x stays",
    counter_example="a base other than the edges: ways that end in its rows would begin there",
    match=lambda plan: isinstance(plan, Filter) and isinstance(plan.child, Fixpoint),
    guard=_is_closure,
    build=_turn,
)
