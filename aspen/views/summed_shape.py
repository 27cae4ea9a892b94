"""Summed shape: a UNION ALL recursion of which a query asks only how many ways and which sums.

    uses(whole, part, pieces)      every way from a whole to a part, with its pieces
    step    pieces * l.cost        factor l.cost, addend 0
    asked   SUM(pieces) by whole, part

A step that multiplies a value, or adds to it, what the value does not decide does the same to a
sum of such values. So ways to one key need not be told apart: a row per key is enough, where the
ways may be exponentially many.

Law:    the groups of `SummedRecursion` over the shape are those of GroupBy over the recursion.
Source: own; as sums over the paths of a graph, M. Mohri, "Semiring frameworks and algorithms for
        shortest-distance problems" (2002).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from aspen.algebra.block import Block, Input, column_name
from aspen.algebra.expr import Col, Const, Expr, Op, columns_in, substitute
from aspen.algebra.linearise import linearise
from aspen.algebra.plan import (
    WAY,
    Aggregate,
    AggregateFunction,
    Filter,
    Fixpoint,
    GroupBy,
    Plan,
    Project,
    RecursiveRef,
)
from aspen.algebra.renaming import renamed
from aspen.model.schema import Column, Type

_ZERO, _ONE = Const(0), Const(1)
_ADDS_UP = (AggregateFunction.COUNT, AggregateFunction.SUM)


@dataclass(frozen=True, slots=True)
class SummedRule:
    """A rule of the step.

    Args:
        block: its outputs are the kept columns, then a factor and an addend per value.
        anew: per value, whether the step gives it without regard to the value before, as addend.
    """

    block: Block
    anew: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class SummedShape:
    """A recursion that is only counted and added up.

    Args:
        recursion: with every way to a row.
        starts: what it begins with, in the recursion's columns.
        rules: its steps.
        kept: indices of its columns that steps or the query look at; they are a row's key.
        values: indices of its columns that are added up.
        keys: per key of the query, the position in `kept`.
        sums: per aggregate of the query, the position in `values`; None for COUNT(*).
        tests: what the query asks of its keys, over its own columns.
    """

    recursion: Fixpoint
    starts: tuple[Plan, ...]
    rules: tuple[SummedRule, ...]
    kept: tuple[int, ...]
    values: tuple[int, ...]
    keys: tuple[int, ...]
    sums: tuple[int | None, ...]
    tests: tuple[Expr, ...]


def summed_shape(plan: GroupBy) -> SummedShape | None:
    """Reads an aggregate over a recursion as sums over its ways; None where it is none."""
    read = _below(plan)
    if read is None or not plan.keys or not all(map(_adds_up, plan.aggregates)):
        return None
    recursion, columns, tests = read
    if any(not columns_in(test) <= {*plan.keys} for test in tests):
        return None
    keys = [columns[key] for key in plan.keys]
    added = [None if one.argument is None else columns[one.argument] for one in plan.aggregates]
    values = tuple(sorted({index for index in added if index is not None}))
    taken = linearise(recursion.step, (recursion.name,))
    rules = [_Rule(block, len(recursion.columns)) for block in taken.rules]
    if not rules or not all(rule.tells_apart for rule in rules):
        return None
    kept = _kept(keys, rules, values)
    made = [rule.summed(kept, values) for rule in rules]
    summed = tuple(rule for rule in made if rule is not None)
    whole = all(recursion.columns[index].type is Type.INT for index in values)
    if {*kept} & {*values} or len(summed) < len(made) or not whole:
        return None
    return SummedShape(
        recursion,
        (recursion.base, *(renamed(part, recursion.columns) for part in taken.flat)),
        summed,
        kept,
        values,
        tuple(map(kept.index, keys)),
        tuple(None if index is None else values.index(index) for index in added),
        tests,
    )


def _below(plan: GroupBy) -> tuple[Fixpoint, dict[str, int], tuple[Expr, ...]] | None:
    """Returns the recursion below selections and renamings, its columns by name, and the tests.

    The tests are in the names of the query, as far as it has them.
    """
    names = {name: name for name in plan.child.names}  # in the query, by the name below
    tests: list[Expr] = []
    below = plan.child
    while isinstance(below, Filter | Project):
        if isinstance(below, Filter):
            read = columns_in(below.predicate)
            known = {old: new for new, old in names.items()}
            if not read <= known.keys():
                return None
            tests.append(_renamed(below.predicate, known))
        else:
            outputs = {column.name: expr for column, expr in below.outputs}
            told = {new: outputs[old] for new, old in names.items()}
            names = {new: expr.name for new, expr in told.items() if isinstance(expr, Col)}
        below = below.child
    if not isinstance(below, Fixpoint) or below.others or below.columns[-1].name != WAY:
        return None
    asked = {*plan.keys, *(name for one in plan.aggregates for name in one.reads)}
    if not asked <= names.keys():
        return None
    order = [column.name for column in below.columns]
    return below, {new: order.index(old) for new, old in names.items()}, tuple(tests)


def _renamed(expr: Expr, names: dict[str, str]) -> Expr:
    return substitute(expr, {old: Col(new) for old, new in names.items()})


def _adds_up(one: Aggregate) -> bool:
    return one.function in _ADDS_UP and not one.distinct


def _kept(keys: Iterable[int], rules: list[_Rule], values: tuple[int, ...]) -> tuple[int, ...]:
    """Returns the columns that the query or a step looks at, perhaps to give another of them."""
    kept, more = {*keys}, {*keys}
    while more:
        more = {index for rule in rules for index in rule.reads(kept, values)} - kept
        kept |= more
    return tuple(sorted(kept))


class _Rule:
    """A rule as it is read: from one row of the recursion and rows beside it."""

    def __init__(self, block: Block, width: int) -> None:
        self._block = block
        self._own = {
            name: index
            for number, atom in enumerate(block.inputs)
            if atom.recursive
            for index, name in enumerate(block.names(number))
        }
        self._way = width - 1

    @property
    def tells_apart(self) -> bool:
        """Whether two derivations always have two ways, and only the way tells of ways."""
        block = self._block
        beside = {
            name
            for number, atom in enumerate(block.inputs)
            if not atom.recursive and not atom.negated
            for name in block.names(number)
        }
        ways = {name for name, index in self._own.items() if index == self._way}
        told = columns_in(block.outputs[self._way])
        others = self._read((*block.outputs[: self._way], *self._tested()))
        return len(ways) == 1 and beside | ways <= told and self._way not in others

    def reads(self, kept: Iterable[int], values: tuple[int, ...]) -> set[int]:
        """Returns the recursion's columns on which kept columns and values' changes depend."""
        outputs = self._block.outputs
        forms = [form for value in values if (form := self._form(value)) is not None]
        exprs = [outputs[index] for index in kept]
        return self._read((*exprs, *self._tested(), *(e for form in forms for e in form[:2])))

    def summed(self, kept: tuple[int, ...], values: tuple[int, ...]) -> SummedRule | None:
        """Returns the rule with a factor and an addend per value, None where one is not linear."""
        block = self._block
        forms = [self._form(value) for value in values]
        found = [form for form in forms if form is not None]
        if len(found) < len(forms):
            return None
        parts = [expr for form in found for expr in form[:2]]
        columns = [block.columns[index] for index in kept]
        columns += [Column(f"part_{number}", Type.INT) for number in range(len(parts))]
        outputs = (*(block.outputs[index] for index in kept), *parts)
        return SummedRule(
            self._over(kept, Block(block.inputs, block.conditions, tuple(columns), outputs)),
            tuple(anew for _, _, anew in found),
        )

    def _over(self, kept: tuple[int, ...], block: Block) -> Block:
        """Returns a block whose recursive row has the kept columns alone."""
        (number,) = [number for number, atom in enumerate(block.inputs) if atom.recursive]
        names: dict[str, Expr] = {
            column_name(number, old): Col(column_name(number, new)) for new, old in enumerate(kept)
        }

        def over(exprs: Iterable[Expr]) -> tuple[Expr, ...]:
            return tuple(substitute(expr, names) for expr in exprs)

        inputs = [replace(atom, key=over(atom.key)) for atom in block.inputs]
        read = block.inputs[number].plan
        assert isinstance(read, RecursiveRef)
        columns = tuple(read.columns[index] for index in kept)
        inputs[number] = Input(replace(read, columns=columns))
        return Block(tuple(inputs), over(block.conditions), block.columns, over(block.outputs))

    def _form(self, value: int) -> tuple[Expr, Expr, bool] | None:
        """Returns a value's factor and addend, and whether it is given anew."""
        expr = self._block.outputs[value]
        (name,) = [name for name, index in self._own.items() if index == value]
        if name not in columns_in(expr):
            return _ONE, expr, True
        form = _linear(expr, name)
        return form and (*form, False)

    def _tested(self) -> tuple[Expr, ...]:
        block = self._block
        return (*block.conditions, *(key for atom in block.inputs for key in atom.key))

    def _read(self, exprs: Iterable[Expr]) -> set[int]:
        return {self._own[name] for expr in exprs for name in columns_in(expr) if name in self._own}


def _linear(expr: Expr, value: str) -> tuple[Expr, Expr] | None:
    """Returns a factor and an addend without the value, None where an expression has none."""
    if expr == Col(value):
        return _ONE, _ZERO
    if not isinstance(expr, Op) or expr.symbol not in ("*", "+", "-"):
        return None
    left, right = (value in columns_in(side) for side in (expr.left, expr.right))
    if left and right:
        return None
    form = _linear(expr.left if left else expr.right, value)
    other = expr.right if left else expr.left
    if form is None:
        return None
    factor, addend = form
    if expr.symbol == "*":
        return _times(factor, other), _times(addend, other)
    if left:
        return factor, Op(expr.symbol, addend, other)
    if expr.symbol == "+":
        return factor, Op("+", other, addend)
    return Op("-", _ZERO, factor), Op("-", other, addend)


def _times(one: Expr, other: Expr) -> Expr:
    if one == _ONE:
        return other
    return _ZERO if one == _ZERO else Op("*", one, other)
