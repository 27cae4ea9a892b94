"""A closure joined with itself, as one that goes on by a row of its base at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace

from aspen.algebra.block import Block, Input, column_name, equated, plan_of
from aspen.algebra.expr import Call, Col, Expr, Op, columns_in, substitute
from aspen.algebra.linearise import NotMaintainable, linearise
from aspen.algebra.plan import Fixpoint, Plan, RecursiveRef, Union
from aspen.algebra.renaming import renamed
from aspen.algebra.rewrite.rule import Rule
from aspen.model.schema import Type


@dataclass(frozen=True, slots=True)
class _Square:
    """A rule that composes two rows of its recursion: where the first ends the second begins.

    Args:
        block: the rule, over two recursive inputs.
        first: the number of the input that the chain begins with.
        begins: indices of the columns that say where.
        kept: indices of the columns in which both rows are equal.
        costs: indices of those that add up, or of which the greater or the lesser counts.
    """

    block: Block
    first: int
    begins: frozenset[int]
    kept: frozenset[int]
    costs: frozenset[int]

    def before(self, base: Plan) -> Block:
        """Returns the rule with rows of the base for the second input."""
        block, order = self.block, (self.first, 1 - self.first)
        names: dict[str, Expr] = {
            name: Col(column_name(new, index))
            for new, old in enumerate(order)
            for index, name in enumerate(block.names(old))
        }
        outputs = [substitute(output, names) for output in block.outputs]
        for index in self.kept:  # as a column that edges change, it needs no test of its own
            outputs[index] = Col(column_name(1, index))
        conditions = tuple(substitute(condition, names) for condition in block.conditions)
        inputs = (block.inputs[self.first], Input(base))
        return replace(block, inputs=inputs, conditions=conditions, outputs=tuple(outputs))


def _square(block: Block, first: int) -> _Square | None:
    """Reads a rule as a composition that begins with an input; None where it is none."""
    ours, theirs = block.names(first), block.names(1 - first)
    indices = range(len(ours))
    pairs = {frozenset(pair) for pair in equated(block.conditions)}
    kept = {i for i in indices if {ours[i], theirs[i]} in pairs}
    outputs = [None if i in kept else output for i, output in enumerate(block.outputs)]
    begins = {i for i in indices if outputs[i] == Col(ours[i])}
    ends = {i for i in indices if outputs[i] == Col(theirs[i])}
    costs = {i for i in indices if _combines(outputs[i], ours[i], theirs[i])}
    meets = [(e, b) for e in ends for b in begins if {ours[e], theirs[b]} in pairs]
    if (
        len(kept) + len(begins) + len(ends) + len(costs) < len(ours)
        or any(block.outputs[i] not in (Col(ours[i]), Col(theirs[i])) for i in kept)
        or not len(meets) == len(begins) == len(ends) == len({e for e, _ in meets})
        or len({b for _, b in meets}) < len(meets)
        or len(kept) + len(meets) < len(block.conditions)
        or any(block.columns[e].type is not block.columns[b].type for e, b in meets)
    ):
        return None
    return _Square(block, first, *map(frozenset, (begins, kept, costs))) if meets else None


def _combines(output: Expr | None, one: str, other: str) -> bool:
    """Whether an output combines two columns as it does not matter in which order."""
    match output:
        case Op("+", Col(), Col()) | Call("greatest" | "least", (Col(), Col())):
            return columns_in(output) == {one, other}
    return False


def _selects(plan: Fixpoint, costs: frozenset[int]) -> bool:
    """Whether what is kept of the rows is the same however a chain is put together.

    A sum of FLOAT differs in its last digit, which is another row where none is chosen.
    """
    columns = [column.name for column in plan.columns]
    if plan.best is None:
        sums = (plan.columns[index].type for index in costs)
        return all(kind is not Type.FLOAT for kind in sums)
    chosen = {column for column, _ in plan.best.choices}
    whole = {*plan.best.keys, *chosen} == {*columns}
    return whole and chosen == {columns[index] for index in costs}


def _linear(plan: Plan) -> Fixpoint | None:
    if not isinstance(plan, Fixpoint) or plan.others:
        return None
    try:
        step = linearise(plan.step, (plan.name,))
    except NotMaintainable:
        return None
    if len(step.rules) != 1:
        return None
    (rule,) = step.rules
    reads = [isinstance(i.plan, RecursiveRef) and i.plan.name == plan.name for i in rule.inputs]
    if reads != [True, True]:
        return None
    # A chain is one from either end; the end that is named first is to stay.
    found = [square for first in (0, 1) if (square := _square(rule, first)) is not None]
    square = min(found, key=lambda one: min(one.begins), default=None)
    if square is None or not _selects(plan, square.costs):
        return None
    begins = (plan.base, *(renamed(branch, plan.columns) for branch in step.flat))
    base = Union(begins) if len(begins) > 1 else plan.base
    return replace(plan, base=base, step=plan_of(square.before(base)))


# Claim: composing is associative, so both are all chains of rows of B; a chosen cost of a chain is
# made of the chosen ones of its parts, as sums, the greater and the lesser are monotone.
# Guard: outputs and conditions are those of a composition, and nothing else.
# Source: Zhang, Yu, Troy, Necessary and sufficient conditions to linearize doubly recursive
# programs in logic databases (TODS 1990), its simplest case.
NONLINEAR_TO_LINEAR = Rule(
    name="nonlinear_to_linear",
    claim="μX. B ∪ X∘X = μX. B ∪ X∘B",
    counter_example="a condition on where a chain begins and ends: its parts may fail it",
    build=_linear,
)
