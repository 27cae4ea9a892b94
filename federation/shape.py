"""Shape: a fragment's plan as inputs and conditions, sorted by whom they concern.

    Project(Join(Filter(Scan s), Scan l))      inputs s, l · own(s) · paired · joined · outputs

A condition over columns that never change for a sensor says who may be partners at all; the others
say whether the rows of partners join. Column `weight_kg` of input 0 is spelt `r0.weight_kg`.

Law: the rows of the plan are the outputs over all combinations of input rows that fulfil all
conditions, grouped if it groups.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from aspen.algebra.explain import expr_text
from aspen.algebra.expr import Col, Expr, Op, columns_in, conjuncts, substitute
from aspen.algebra.plan import Filter, GroupBy, Join, Plan, Project, Scan, Ship, Window
from aspen.errors import AspenError
from aspen.model.schema import Column

Lasting = Callable[[str, str], bool]
"""Whether a column of a stream never changes for a sensor."""


class NoFragment(AspenError):
    """A plan that no network could run, so that nobody can say what it costs there."""

    code = "federation.no_fragment"


@dataclass(frozen=True, slots=True)
class Input:
    """One device stream of a fragment.

    Args:
        columns: as the plan reads them, bare names.
        own: conditions over this input alone, with the text by which statistics know each.
    """

    stream: str
    columns: tuple[Column, ...]
    own: tuple[tuple[Expr, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Shape:
    """A fragment.

    Args:
        paired: what two sensors must fulfil to be partners, over lasting columns.
        joined: what their rows must fulfil.
        outputs: the computed columns; the group keys when it groups.
        aggregates: columns aggregated; None for COUNT(*).
    """

    inputs: tuple[Input, ...]
    paired: tuple[Expr, ...]
    joined: tuple[Expr, ...]
    outputs: tuple[Expr, ...]
    grouped: bool = False
    aggregates: tuple[Expr | None, ...] = ()

    @property
    def equal(self) -> tuple[tuple[str, str], ...]:
        """The pairs of columns that must be equal, the earlier input's first."""
        found = []
        for one in (*self.paired, *self.joined):
            match one:
                case Op("=", Col(left), Col(right)):
                    sides = sorted((left, right), key=place_of)
                    found.append((sides[0], sides[1]))
        return tuple(found)


def place_of(name: str) -> tuple[int, str]:
    """Returns the input and the column a name stands for."""
    left, _, right = name.partition(".")
    return int(left[1:]), right


@dataclass(frozen=True)
class _Block:
    inputs: tuple[Input, ...]
    columns: Mapping[str, Expr]
    where: tuple[tuple[Expr, str], ...] = ()


def shape_of(plan: Plan, lasting: Lasting) -> Shape:
    """Returns a fragment's shape.

    Raises:
        NoFragment: a node that keeps more than one row per sensor, or is no node of motes.
    """
    node = plan
    while isinstance(node, Filter | Project) and _groups_below(node):
        node = node.child  # the base finishes what stands above an aggregate
    if isinstance(node, GroupBy):
        block = _block(node.child, 0)
        keys = tuple(block.columns[key] for key in node.keys)
        values = tuple(
            None if one.argument is None else block.columns[one.argument] for one in node.aggregates
        )
        return _sorted(block, keys, values, lasting, grouped=True)
    block = _block(plan, 0)
    outputs = tuple(block.columns[column.name] for column in plan.columns)
    return _sorted(block, outputs, (), lasting, grouped=False)


def _groups_below(node: Plan) -> bool:
    while isinstance(node, Filter | Project):
        node = node.child
    return isinstance(node, GroupBy)


def _block(node: Plan, number: int) -> _Block:
    match node:
        case Scan():
            bare = tuple(replace(c, name=c.name.rpartition(".")[2]) for c in node.columns)
            columns: dict[str, Expr] = {
                column.name: Col(f"r{number}.{one.name}")
                for column, one in zip(node.columns, bare, strict=True)
            }
            return _Block((Input(node.relation, bare),), columns)
        case Window(rows=1) | Ship():
            return _block(node.child, number)
        case Filter():
            below = _block(node.child, number)
            own = tuple(
                (substitute(one, below.columns), expr_text(one))
                for one in conjuncts(node.predicate)
            )
            return replace(below, where=(*below.where, *own))
        case Project():
            below = _block(node.child, number)
            computed = {c.name: substitute(e, below.columns) for c, e in node.outputs}
            return replace(below, columns=computed)
        case Join():
            left = _block(node.left, number)
            right = _block(node.right, number + len(left.inputs))
            both = {**left.columns, **right.columns}
            on = [
                (Op("=", both[one], both[other]), expr_text(Op("=", Col(one), Col(other))))
                for one, other in node.on
            ]
            rest = [(substitute(one, both), expr_text(one)) for one in conjuncts(node.residual)]
            return _Block(left.inputs + right.inputs, both, (*left.where, *right.where, *on, *rest))
        case _:
            raise NoFragment(f"motes run no {type(node).__name__}", exists=("Scan", "Join"))


def _sorted(
    block: _Block,
    outputs: tuple[Expr, ...],
    aggregates: tuple[Expr | None, ...],
    lasting: Lasting,
    *,
    grouped: bool,
) -> Shape:
    own: list[list[tuple[Expr, str]]] = [[] for _ in block.inputs]
    paired: list[Expr] = []
    joined: list[Expr] = []
    for one, text in block.where:
        places = [place_of(name) for name in columns_in(one)]
        touched = sorted({number for number, _ in places})
        if len(touched) <= 1:
            own[touched[0] if touched else 0].append((one, text))
        elif all(lasting(block.inputs[number].stream, name) for number, name in places):
            paired.append(one)
        else:
            joined.append(one)
    inputs = tuple(
        replace(one, own=tuple(mine)) for one, mine in zip(block.inputs, own, strict=True)
    )
    return Shape(inputs, tuple(paired), tuple(joined), outputs, grouped, aggregates)
