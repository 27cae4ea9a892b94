"""EdgeRule: a rule that reads its recursion once, so that its other inputs are edges.

    reach(src, dst) :- reach(src, at), link(at, dst)        walk(origin, node, cost)
          invariant                 begin  change                 invariant   + length of the edge

A row goes to the next along an edge: the *invariant* columns stay, the others become the columns
of the edge's end, and a *cost* grows by the edge's length, or is bounded by it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from aspen.algebra.block import Block
from aspen.algebra.expr import Call, Col, Expr, Op, columns_in


@dataclass(frozen=True, slots=True)
class EdgeRule:
    """A rule with one recursive input.

    Args:
        reads: the number of that input.
    """

    block: Block
    reads: int

    @classmethod
    def of(cls, block: Block) -> EdgeRule | None:
        """Returns a rule as one along edges; None where it reads more, less, or negates."""
        reads = [number for number, one in enumerate(block.inputs) if one.recursive]
        negates = any(one.negated for one in block.inputs)
        if len(reads) != 1 or negates or len(block.inputs) == 1:
            return None
        return cls(block, reads[0])

    @property
    def own(self) -> tuple[str, ...]:
        """The names of the recursive input's columns."""
        return self.block.names(self.reads)

    @property
    def rest(self) -> tuple[int, ...]:
        """The numbers of the other inputs: the edges."""
        return tuple(n for n in range(len(self.block.inputs)) if n != self.reads)

    def recursive(self, expr: Expr | None) -> frozenset[str]:
        """Returns the recursive columns an expression reads."""
        return columns_in(expr) & frozenset(self.own)

    def invariant(self) -> frozenset[int]:
        """Returns the indices of the columns that stay as they are."""
        pairs = zip(self.block.outputs, self.own, strict=True)
        return frozenset(index for index, (output, own) in enumerate(pairs) if output == Col(own))

    def length(self, cost: int) -> tuple[str, Expr] | None:
        """Returns how an edge changes a cost: `+`, `greatest` or `least`, and with what."""
        own = Col(self.own[cost])
        match self.block.outputs[cost]:
            case Op("+" as how, one, other) | Call("greatest" | "least" as how, (one, other)):
                for this, rest in ((one, other), (other, one)):
                    if this == own and not self.recursive(rest):
                        return how, rest
        return None

    def begins(self, changed: Iterable[int]) -> tuple[dict[int, Expr], list[Expr]]:
        """Returns what of an edge each changed column must equal, and the other conditions.

        A column that no column of an edge gives may have to equal a constant.
        """
        indices = {self.own[index]: index for index in changed}
        found: dict[int, Expr] = {}
        others = list(self.block.conditions)
        for constant in (False, True):
            for condition in tuple(others):
                pair = self._equates(condition, indices)
                if pair is None or bool(columns_in(pair[1])) == constant:
                    continue
                if indices[pair[0]] not in found:
                    found[indices[pair[0]]] = pair[1]
                    others.remove(condition)
        return found, others

    def _equates(self, condition: Expr, names: Iterable[str]) -> tuple[str, Expr] | None:
        match condition:
            case Op("=", left, right):
                for one, other in ((left, right), (right, left)):
                    if isinstance(one, Col) and one.name in names and not self.recursive(other):
                        return one.name, other
        return None
