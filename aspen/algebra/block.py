"""Block: a select-project-join block in the one form that rules, federation and motes read.

    Project x, z                     inputs      r, s
      Filter r.y < 5                 conditions  a0.c1 = a1.c0   a0.c1 < 5
        Join on r.y = s.y            outputs     x = a0.c0, z = a1.c1
          r
          s

Column i of input n is named `a{n}.c{i}`, so neither aliases nor the order of selections,
projections and joins show. UNION ALL is pulled outwards (σ, π and ⋈ distribute over it): a plan is
the union of its blocks.

Law:    `plan_of(block_of(p))` has the rows of p, with their weights.
Source: the block of System R (Selinger et al., SIGMOD 1979); as a rule of Datalog, its normal form.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from networkx.utils import UnionFind

from aspen.algebra.expr import TRUE, Col, Expr, Op, columns_in, conjuncts, substitute
from aspen.algebra.joined import joined
from aspen.algebra.plan import (
    AntiJoin,
    Distinct,
    Filter,
    GroupBy,
    Join,
    MarkJoin,
    Plan,
    PlanError,
    Project,
    RecursiveRef,
    Ship,
    Union,
    nodes,
)
from aspen.algebra.renaming import as_they_are, renamed
from aspen.model.schema import Column

IsInput = Callable[[Plan], bool]


class NotABlock(PlanError):
    """A plan with a node that no block has."""

    def __init__(self, node: Plan) -> None:
        super().__init__(f"a block has no {type(node).__name__}")
        self.node = node


@dataclass(frozen=True, slots=True)
class Input:
    """One input of a block.

    Args:
        plan: what it reads.
        negated: `NOT EXISTS`: no row of the plan has `key` in its columns `indices`, and that key
            is the input's row.
        key: over the columns of other inputs.
        indices: columns of the plan.
    """

    plan: Plan
    negated: bool = False
    key: tuple[Expr, ...] = ()
    indices: tuple[int, ...] = ()

    @property
    def recursive(self) -> bool:
        """Whether it reads a relation of a recursion."""
        return isinstance(self.plan, RecursiveRef)

    @property
    def width(self) -> int:
        """How many columns its row has."""
        return len(self.key) if self.negated else len(self.plan.columns)


@dataclass(frozen=True, slots=True)
class Block:
    """For all rows of the inputs that pass the conditions, the outputs are a row.

    Args:
        columns: what the outputs are called, and their types.
    """

    inputs: tuple[Input, ...]
    conditions: tuple[Expr, ...]
    columns: tuple[Column, ...]
    outputs: tuple[Expr, ...]

    def __post_init__(self) -> None:
        if len(self.columns) != len(self.outputs):
            raise PlanError("a block has a column for each output")
        have = {name for number in range(len(self.inputs)) for name in self.names(number)}
        for expr in (*self.conditions, *self.outputs, *(k for i in self.inputs for k in i.key)):
            if not columns_in(expr) <= have:
                lost = sorted(columns_in(expr) - have)
                raise PlanError("a block reads a column of no input", found=", ".join(lost))

    def names(self, number: int) -> tuple[str, ...]:
        """Returns the names of an input's columns."""
        return tuple(column_name(number, index) for index in range(self.inputs[number].width))

    @property
    def own_names(self) -> dict[str, Expr]:
        """Each column's name in its input's plan, where no other input has the same."""
        plans = [(n, one.plan) for n, one in enumerate(self.inputs) if not one.negated]
        counted = Counter(column.name for _, plan in plans for column in plan.columns)
        return {
            name: Col(column.name if counted[column.name] == 1 else name)
            for number, plan in plans
            for name, column in zip(self.names(number), plan.columns, strict=True)
        }

    @property
    def equalities(self) -> tuple[tuple[str, Expr], ...]:
        """Every condition that reads `column = something of other inputs`, both ways round."""
        found: list[tuple[str, Expr]] = []
        for condition in self.conditions:
            if isinstance(condition, Op) and condition.symbol == "=":
                sides = ((condition.left, condition.right), (condition.right, condition.left))
                found += [
                    (own.name, other)
                    for own, other in sides
                    if isinstance(own, Col) and input_of(own.name) not in inputs_in(other)
                ]
        return tuple(found)

    def by_input(self) -> tuple[tuple[tuple[Expr, ...], ...], tuple[Expr, ...]]:
        """Returns the conditions over each input alone, and those over several.

        A condition over no column is the first input's.
        """
        own: list[list[Expr]] = [[] for _ in self.inputs]
        across: list[Expr] = []
        for condition in self.conditions:
            read = inputs_in(condition)
            if len(read) > 1:
                across.append(condition)
            else:
                own[min(read, default=0)].append(condition)
        return tuple(map(tuple, own)), tuple(across)


def column_name(number: int, index: int) -> str:
    """Returns the name of an input's column."""
    return f"a{number}.c{index}"


def column_of(name: str) -> tuple[int, int]:
    """Returns the number of the input and the index of the column a name stands for."""
    number, _, index = name[1:].partition(".c")
    return int(number), int(index)


def input_of(name: str) -> int:
    """Returns the number of the input a column belongs to."""
    return column_of(name)[0]


def inputs_in(expr: Expr) -> frozenset[int]:
    """Returns the numbers of the inputs an expression reads."""
    return frozenset(map(input_of, columns_in(expr)))


def equated(conditions: Iterable[Expr]) -> tuple[tuple[str, str], ...]:
    """Returns the pairs of columns that conditions make equal, the earlier input's first."""
    found = []
    for condition in conditions:
        match condition:
            case Op("=", Col(one), Col(other)):
                first, second = sorted((one, other), key=column_of)
                found.append((first, second))
    return tuple(found)


def equal_classes(
    pairs: Iterable[tuple[str, str]], names: Iterable[str] = ()
) -> tuple[frozenset[str], ...]:
    """Returns the classes of equal columns; each of `names` is in one, perhaps alone."""
    classes: UnionFind[str] = UnionFind(names)
    for one, other in pairs:
        classes.union(one, other)
    return tuple(frozenset(members) for members in classes.to_sets())


# From plans to blocks.


def block_of(plan: Plan, is_input: IsInput | None = None) -> Block:
    """Takes a plan apart into one block.

    Args:
        is_input: which nodes are inputs; those that are no selection, projection, join or border
            if None.

    Raises:
        NotABlock: a node that is neither an input nor part of a block.
    """
    found = blocks_of(plan, is_input or _opaque)
    if len(found) != 1:
        raise NotABlock(next(node for node in nodes(plan) if isinstance(node, Union)))
    return found[0]


def blocks_of(plan: Plan, is_input: IsInput, *, sets: bool = False) -> tuple[Block, ...]:
    """Takes a plan apart into the blocks whose UNION ALL it is.

    Args:
        sets: whether only the set of rows counts, so that DISTINCT is nothing.

    Raises:
        NotABlock: a node that is neither an input nor part of a block.
    """
    return tuple(
        Block(part.inputs, part.conditions, plan.columns, tuple(part.columns.values()))
        for part in _Taking(is_input, sets).parts(plan, 0)
    )


def aggregate_of(plan: Plan) -> tuple[tuple[Filter | Project, ...], GroupBy] | None:
    """Returns the aggregate a plan ends in, and the selections and projections above it."""
    above: list[Filter | Project] = []
    while isinstance(plan, Filter | Project):
        above.append(plan)
        plan = plan.child
    return (tuple(above), plan) if isinstance(plan, GroupBy) else None


def _opaque(plan: Plan) -> bool:
    return not isinstance(plan, Filter | Project | Join | Ship | Union)


@dataclass(frozen=True, slots=True)
class _Part:
    """A subplan, taken apart; its columns by their names in the plan."""

    inputs: tuple[Input, ...]
    conditions: tuple[Expr, ...]
    columns: dict[str, Expr]

    def tested(self, predicate: Expr | None) -> _Part:
        more = tuple(substitute(one, self.columns) for one in conjuncts(predicate))
        return replace(self, conditions=self.conditions + more)


@dataclass(frozen=True, slots=True)
class _Taking:
    """Takes plans apart; `first` is the number of a subplan's first input."""

    is_input: IsInput
    sets: bool

    def parts(self, plan: Plan, first: int) -> Iterator[_Part]:
        if self.is_input(plan):
            columns: dict[str, Expr] = {
                column.name: Col(column_name(first, index))
                for index, column in enumerate(plan.columns)
            }
            yield _Part((Input(plan),), (), columns)
            return
        match plan:
            case Filter(MarkJoin() as found) if self.sets and _wants(plan, found):
                for part in self.parts(_partners(found), first):
                    columns = {c.name: part.columns[c.name] for c in found.left.columns}
                    columns[found.mark.name] = TRUE
                    yield replace(part, columns=columns).tested(plan.predicate)
            case Filter():
                for part in self.parts(plan.child, first):
                    yield part.tested(plan.predicate)
            case Project():
                for part in self.parts(plan.child, first):
                    computed = {c.name: substitute(e, part.columns) for c, e in plan.outputs}
                    yield replace(part, columns=computed)
            case Ship():
                yield from self.parts(plan.child, first)
            case Distinct() if self.sets:
                yield from self.parts(plan.child, first)
            case Union():
                names = [column.name for column in plan.columns]
                for child in plan.children:
                    for part in self.parts(child, first):
                        values = part.columns.values()
                        yield replace(part, columns=dict(zip(names, values, strict=True)))
            case Join():
                for left in self.parts(plan.left, first):
                    for right in self.parts(plan.right, first + len(left.inputs)):
                        yield _joined_parts(plan, left, right)
            case AntiJoin() if self._negatable(plan):
                for part in self.parts(plan.left, first):
                    yield _without(plan, part)
            case _:
                raise NotABlock(plan)

    def _negatable(self, plan: AntiJoin) -> bool:
        right = plan.right
        return plan.residual is None and self.is_input(right) and not Input(right).recursive


def _wants(plan: Filter, found: MarkJoin) -> bool:
    """Whether only rows with a partner pass."""
    return Col(found.mark.name) in conjuncts(plan.predicate)


def _partners(found: MarkJoin) -> Join:
    """Returns the rows with each of their partners, which for a set is to have one."""
    return Join(found.left, found.right, found.on, found.residual)


def _joined_parts(plan: Join, left: _Part, right: _Part) -> _Part:
    columns = {**left.columns, **right.columns}
    pairs = tuple(Op("=", columns[one], columns[other]) for one, other in plan.on)
    both = _Part(left.inputs + right.inputs, (*left.conditions, *right.conditions, *pairs), columns)
    return both.tested(plan.residual)


def _without(plan: AntiJoin, part: _Part) -> _Part:
    rights = [column.name for column in plan.right.columns]
    key = tuple(part.columns[left] for left, _ in plan.on)
    absent = Input(plan.right, True, key, tuple(rights.index(right) for _, right in plan.on))
    return replace(part, inputs=(*part.inputs, absent))


# From blocks to plans.


def plan_of(block: Block) -> Plan:
    """Returns a block as a plan, its columns under their own names where those differ."""
    names = block.own_names
    sides = [
        renamed(one.plan, _under(one.plan, [names[name] for name in block.names(number)]))
        for number, one in enumerate(block.inputs)
        if not one.negated
    ]
    plan = joined(sides, (substitute(condition, names) for condition in block.conditions))
    for number, one in enumerate(block.inputs):
        if one.negated:
            plan = _lacking(plan, block.names(number), one, names)
    outputs = tuple(substitute(output, names) for output in block.outputs)
    if plan.columns == block.columns and outputs == tuple(Col(c.name) for c in plan.columns):
        return plan
    return Project(plan, tuple(zip(block.columns, outputs, strict=True)))


def _under(plan: Plan, names: Sequence[Expr]) -> tuple[Column, ...]:
    return tuple(
        replace(column, name=name.name)
        for column, name in zip(plan.columns, names, strict=True)
        if isinstance(name, Col)
    )


def _lacking(plan: Plan, own: Sequence[str], one: Input, names: Mapping[str, Expr]) -> Plan:
    """Keeps the rows whose key the input's plan lacks."""
    there = [one.plan.columns[index] for index in one.indices]
    keys = tuple(
        (replace(column, name=name), substitute(key, names))
        for name, column, key in zip(own, there, one.key, strict=True)
    )
    keep = as_they_are(plan.columns)
    on = tuple((name, column.name) for name, column in zip(own, there, strict=True))
    return AntiJoin(Project(plan, (*keep, *keys)), one.plan, on)
