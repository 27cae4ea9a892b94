"""Compile a recursion: its steps become rules, every subplan beside it a bag circuit."""

from __future__ import annotations

from aspen.algebra.block import Block
from aspen.algebra.expr import columns_in
from aspen.algebra.linearise import linearise
from aspen.algebra.plan import Best, Fixpoint, Plan, Recursive, RecursiveRef
from aspen.algebra.renaming import renamed
from aspen.model.schema import Column
from aspen.views.compile_rules import NodeBuilder, RuleBuilder
from aspen.views.node import Node
from aspen.views.operators.agg_sel import selections
from aspen.views.operators.best_relation import BestRelation
from aspen.views.operators.fixpoint import FixpointOperator
from aspen.views.operators.multi_best_relation import MultiBestRelation
from aspen.views.operators.recursive_input import RecursiveInput
from aspen.views.operators.recursive_output import RecursiveOutput
from aspen.views.operators.relation import RecursiveRelation
from aspen.views.operators.rules import RecursiveRule, Rules
from aspen.views.operators.support.strategies import TRAVERSAL, make_support
from aspen.views.operators.traversal import Traversal
from aspen.views.traversal.shape import TraversalShape, traversal_shape


def build_fixpoint(compiler: NodeBuilder, plan: Fixpoint) -> Node:
    """Returns the node that keeps a recursive view.

    Views that are recursive together share one Fixpoint, whichever of them is asked for.

    Raises:
        NotMaintainable: the step cannot be maintained.
    """
    strategy = compiler.strategy(plan)
    # A traversal counts no rows, so it could not stop at a limit.
    shape = traversal_shape(plan) if strategy == TRAVERSAL and plan.most is None else None
    if shape is not None:
        return _traversal(compiler, shape)
    build = _Recursion(compiler, plan)
    rules = Rules(build.bases, tuple(build.steps))
    node = compiler.node(
        ("fixpoint", strategy, plan.most, *build.parts),
        lambda: FixpointOperator(
            rules,
            tuple(build.relations),
            make_support(strategy, rules, compiler.notify),
            plan.most,
            flows=build.flows,
        ),
    )
    if len(build.relations) == 1:
        return node
    number = build.numbers[plan.name]
    return compiler.node(("output", id(node), number), lambda: RecursiveOutput(node, number))


def _traversal(compiler: NodeBuilder, shape: TraversalShape) -> Node:
    base, edges = compiler.build(shape.base), compiler.build(shape.edges)
    # repr tells 1 from 1.0 and TRUE, which are equal in Python.
    how = (shape.cost, shape.adds, shape.sign)
    spelt = repr((shape.invariant, shape.vertex, how, shape.layer, shape.passes))
    return compiler.node(
        ("traversal", id(base), id(edges), spelt), lambda: Traversal(base, edges, shape)
    )


class _Recursion:
    """The parts of a Fixpoint, put together; equal `parts` mean equal recursions."""

    def __init__(self, compiler: NodeBuilder, plan: Fixpoint) -> None:
        # Whichever of them is asked for, the relations are numbered alike.
        ordered = sorted(plan.relations, key=lambda one: one.name)
        self.numbers = {one.name: number for number, one in enumerate(ordered)}
        self.relations = [_relation(one) for one in ordered]
        self.rules = RuleBuilder(compiler, self.numbers, lambda n, by: self.relations[n].index(by))
        self.parts = self.rules.parts
        self.steps: list[RecursiveRule] = []
        taken = [linearise(one.step, self.numbers) for one in ordered]
        self.bases = tuple(
            self._base(one, step.flat) for one, step in zip(ordered, taken, strict=True)
        )
        rules = [(number, rule) for number, step in enumerate(taken) for rule in step.rules]
        self.flows = all(_flows(rule, ordered[gives], ordered) for gives, rule in rules)
        for index, (gives, rule) in enumerate(rules):
            mark = (index,) if len(rules) > 1 else ()
            self.steps.append(self.rules.step(rule, gives, mark))

    def _base(self, one: Recursive, flat: tuple[Plan, ...]) -> RecursiveInput:
        self.parts.append(("relation", _spelt(one.best, one.columns)))
        return self.rules.base((one.base, *(renamed(part, one.columns) for part in flat)))


def _flows(rule: Block, head: Recursive, relations: list[Recursive]) -> bool:
    """Whether what a rule derives carries the costs of all the recursive rows it uses."""
    costs = {one.name: _costs(one) for one in relations}
    made = costs[head.name] or range(len(rule.outputs))
    used = frozenset[str]().union(*(columns_in(rule.outputs[index]) for index in made))
    for number, atom in enumerate(rule.inputs):
        if isinstance(atom.plan, RecursiveRef):
            names = rule.names(number)
            own = costs[atom.plan.name]
            # A set may hand costs on in any of its columns.
            needed = {names[index] for index in own} if own else set(names)
            if (own or costs[head.name]) and not needed & used:
                return False
    return True


def _costs(one: Recursive) -> tuple[int, ...]:
    if one.best is None:
        return ()
    names = [column.name for column in one.columns]
    return tuple(names.index(column) for column, _ in one.best.choices)


def _relation(one: Recursive) -> RecursiveRelation:
    if one.best is None:
        return RecursiveRelation(one.name)
    choices = selections(one.best, one.columns)
    if len(choices) == 1:
        return BestRelation(one.name, choices[0])
    return MultiBestRelation(one.name, choices)


def _spelt(best: Best | None, columns: tuple[Column, ...]) -> object:
    if best is None:
        return None
    names = [column.name for column in columns]
    chosen = tuple((names.index(column), how.value) for column, how in best.choices)
    return tuple(names.index(key) for key in best.keys), chosen
