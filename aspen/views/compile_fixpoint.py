"""Compile a recursion: its steps become rules, every subplan beside it a bag circuit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from aspen.algebra.block import Block, Input
from aspen.algebra.expr import columns_in
from aspen.algebra.linearise import linearise
from aspen.algebra.plan import Best, Fixpoint, Plan, Recursive, RecursiveRef, Union, Values
from aspen.algebra.renaming import renamed
from aspen.model.schema import Column
from aspen.views.node import Indices, Node
from aspen.views.operators.agg_sel import selections
from aspen.views.operators.best_relation import BestRelation
from aspen.views.operators.fixpoint import FixpointOperator
from aspen.views.operators.min_ship import SettledIndex
from aspen.views.operators.multi_best_relation import MultiBestRelation
from aspen.views.operators.recursive_input import AbsentInput, RecursiveInput
from aspen.views.operators.recursive_output import RecursiveOutput
from aspen.views.operators.relation import RecursiveRelation
from aspen.views.operators.rules import RecursiveRule, Rules
from aspen.views.operators.support.strategies import TRAVERSAL, Notify, make_support
from aspen.views.operators.traversal import Traversal
from aspen.views.rule_chain import chain
from aspen.views.static_part import static_part
from aspen.views.traversal.shape import TraversalShape, traversal_shape


class _NodeBuilder(Protocol):
    strategy: Callable[[Fixpoint], str]
    notify: Notify

    def build(self, plan: Plan) -> Node: ...
    def node(self, identity: object, make: Callable[[], Node]) -> Node: ...


def build_fixpoint(compiler: _NodeBuilder, plan: Fixpoint) -> Node:
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


def _traversal(compiler: _NodeBuilder, shape: TraversalShape) -> Node:
    base, edges = compiler.build(shape.base), compiler.build(shape.edges)
    # repr tells 1 from 1.0 and TRUE, which are equal in Python.
    how = (shape.cost, shape.adds, shape.sign)
    spelt = repr((shape.invariant, shape.vertex, how, shape.layer, shape.passes))
    return compiler.node(
        ("traversal", id(base), id(edges), spelt), lambda: Traversal(base, edges, shape)
    )


class _Recursion:
    """The parts of a Fixpoint, put together; equal `parts` mean equal recursions."""

    def __init__(self, compiler: _NodeBuilder, plan: Fixpoint) -> None:
        self.compiler = compiler
        # Whichever of them is asked for, the relations are numbered alike.
        ordered = sorted(plan.relations, key=lambda one: one.name)
        self.numbers = {one.name: number for number, one in enumerate(ordered)}
        self.parts: list[object] = []
        self.relations = [_relation(one) for one in ordered]
        self.steps: list[RecursiveRule] = []
        taken = [linearise(one.step, self.numbers) for one in ordered]
        self.bases = tuple(
            self._base(one, step.flat) for one, step in zip(ordered, taken, strict=True)
        )
        rules = [(number, rule) for number, step in enumerate(taken) for rule in step.rules]
        self.flows = all(_flows(rule, ordered[gives], ordered) for gives, rule in rules)
        for index, (gives, rule) in enumerate(rules):
            mark = (index,) if len(rules) > 1 else ()
            self.steps.append(self._step(rule, gives, mark))

    def _base(self, one: Recursive, flat: tuple[Plan, ...]) -> RecursiveInput:
        self.parts.append(("relation", _spelt(one.best, one.columns)))
        begins = [one.base, *(renamed(part, one.columns) for part in flat)]
        begins = [part for part in begins if not (isinstance(part, Values) and not part.rows)]
        base = Union(tuple(begins)) if len(begins) > 1 else begins[0] if begins else one.base
        return self._input(base, ())

    def _input(self, plan: Plan, indices: Indices) -> RecursiveInput:
        node = self.compiler.build(plan)
        fixed = static_part(plan)
        static = node if fixed is plan else None if fixed is None else self.compiler.build(fixed)
        self.parts.append(("input", id(node), None if static is None else id(static)))
        return RecursiveInput(node, indices, static)

    def _side(self, atom: Input, indices: Indices) -> RecursiveInput:
        if not atom.negated:
            return self._input(atom.plan, indices)
        node = self.compiler.build(atom.plan)
        self.parts.append(("absent", id(node)))
        return AbsentInput(node, indices)

    def _step(self, rule: Block, gives: int, mark: tuple[int, ...]) -> RecursiveRule:
        reads = {
            number: self.numbers[atom.plan.name]
            for number, atom in enumerate(rule.inputs)
            if isinstance(atom.plan, RecursiveRef)
        }
        negated = [(n, a.key, a.indices) for n, a in enumerate(rule.inputs) if a.negated]
        # repr tells 1 from 1.0 and TRUE, which are equal in Python.
        spelt = repr((rule.conditions, rule.outputs, negated))
        self.parts.append(("rule", gives, tuple(reads.items()), spelt))
        sides: dict[int, dict[Indices, RecursiveInput]] = {
            atom: {} for atom in range(len(rule.inputs)) if atom not in reads
        }

        def partners(atom: int, indices: Indices) -> RecursiveInput | SettledIndex:
            if atom in reads:
                return self.relations[reads[atom]].index(indices)
            own = sides[atom]
            if indices not in own:
                own[indices] = self._side(rule.inputs[atom], indices)
            return own[indices]

        chains = [chain(rule, start, partners, mark) for start in range(len(rule.inputs))]
        inputs = {atom: tuple(own.values()) for atom, own in sides.items()}
        return RecursiveRule(gives, tuple(reads.items()), tuple(chains), inputs)


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
