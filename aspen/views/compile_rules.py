"""Compile the rules of a recursion: its blocks become chains, subplans beside them bag circuits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from aspen.algebra.block import Block, Input
from aspen.algebra.plan import Fixpoint, Plan, RecursiveRef, Union, Values
from aspen.views.node import Indices, Node
from aspen.views.operators.min_ship import SettledIndex
from aspen.views.operators.recursive_input import AbsentInput, RecursiveInput
from aspen.views.operators.rules import RecursiveRule
from aspen.views.operators.support.strategies import Notify
from aspen.views.rule_chain import chain
from aspen.views.static_part import static_part


class NodeBuilder(Protocol):
    """What gives the nodes of plans.

    `strategy` says how a recursion is maintained, `notify` hears when a strategy gives up.
    """

    strategy: Callable[[Fixpoint], str]
    notify: Notify

    def build(self, plan: Plan) -> Node:
        """Returns the node that keeps a plan's rows."""

    def node(self, identity: object, make: Callable[[], Node]) -> Node:
        """Returns the node of that identity, made if there is none."""


class RuleBuilder:
    """Makes the rules of one recursion; equal `parts` mean equal recursions.

    Args:
        numbers: of the recursion's relations, by name.
        index: gives the index of a relation's rows by some columns.
    """

    def __init__(
        self,
        compiler: NodeBuilder,
        numbers: dict[str, int],
        index: Callable[[int, Indices], SettledIndex],
    ) -> None:
        self._compiler = compiler
        self._numbers = numbers
        self._index = index
        self.parts: list[object] = []

    def base(self, begins: Sequence[Plan]) -> RecursiveInput:
        """Returns what a relation begins with."""
        some = [part for part in begins if not (isinstance(part, Values) and not part.rows)]
        return self._input(Union(tuple(some)) if len(some) > 1 else (*some, begins[0])[0], ())

    def step(self, rule: Block, gives: int, mark: tuple[int, ...]) -> RecursiveRule:
        """Returns a rule, outwards from each of its atoms.

        Args:
            gives: the number of the relation it derives.
            mark: what tells its sources from those of other rules.
        """
        reads = {
            number: self._numbers[atom.plan.name]
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
                return self._index(reads[atom], indices)
            own = sides[atom]
            if indices not in own:
                own[indices] = self._side(rule.inputs[atom], indices)
            return own[indices]

        chains = [chain(rule, start, partners, mark) for start in range(len(rule.inputs))]
        inputs = {atom: tuple(own.values()) for atom, own in sides.items()}
        return RecursiveRule(gives, tuple(reads.items()), tuple(chains), inputs)

    def _side(self, atom: Input, indices: Indices) -> RecursiveInput:
        if not atom.negated:
            return self._input(atom.plan, indices)
        node = self._compiler.build(atom.plan)
        self.parts.append(("absent", id(node)))
        return AbsentInput(node, indices)

    def _input(self, plan: Plan, indices: Indices) -> RecursiveInput:
        node = self._compiler.build(plan)
        fixed = static_part(plan)
        static = node if fixed is plan else None if fixed is None else self._compiler.build(fixed)
        self.parts.append(("input", id(node), None if static is None else id(static)))
        return RecursiveInput(node, indices, static)
