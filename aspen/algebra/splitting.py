"""Splitting: one part of a plan's rows, computed from one part of a base relation's rows.

    whole     route_request ⋈ edge …      part k     σ part(node) = k (route_request) ⋈ edge …

Every node of a part stands in one of three relations to the same node of the whole plan:

    Whole     the same rows: it reads nothing that was split
    Kept      the rows whose carried column falls into the part: σ part(c) = k (whole)
    Spread    rows that add up to the whole over all parts; no column says which part a row is of

A column is carried because its value is the root's (VALUE), or because it is the key of a row of
the root relation, which has the value (KEY). What cannot be split is left whole; that is always
right. Rules, per node: selections and projections keep; a join of a part with whole inputs; of a
part with a part only where carried columns are equal; groups, DISTINCT, orders and set operations
only by a carried column; a recursion whose every branch carries the same column.

Law:    for any n, the rows of the parts 0 … n - 1 add up to those of the whole plan.
Source: decomposable plans, BigDatalog (SIGMOD 2016), section 5; keys and what is spread are own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from aspen.algebra.carried import (
    Carried,
    Indexed,
    Kept,
    PartNode,
    Root,
    by_index,
    by_name,
    common_indices,
    equalities,
    meets,
    only,
    through,
    value_column,
    with_equals,
)
from aspen.algebra.expr import Call, Col, Const, Expr, Op
from aspen.algebra.plan import (
    AntiJoin,
    Apply,
    Distinct,
    Filter,
    Fixpoint,
    GroupBy,
    Join,
    MarkJoin,
    NotFlat,
    OuterJoin,
    Over,
    Plan,
    Project,
    Recursive,
    RecursiveRef,
    Scan,
    SetOperation,
    Ship,
    TopK,
    Union,
    Values,
    Window,
    children,
    nodes,
    with_children,
)


def in_part(column: str, number: int, parts: int) -> Expr:
    """Returns the predicate that a column's value falls into a part."""
    return Op("=", Call("part", (Col(column), Const(parts))), Const(number))


@dataclass(frozen=True, slots=True)
class Reads:
    """Whether a plan reads the root, and which recursions it is part of."""

    root: bool = False
    refs: frozenset[str] = frozenset()


class _NotSplitError(Exception):
    """Caught by the nearest node that can be left whole."""


@dataclass(slots=True)
class Splitting:
    """Computes one part of a plan."""

    root: Root
    number: int
    parts: int
    _refs: dict[str, Indexed] = field(default_factory=dict)
    _known: dict[int, tuple[Plan, PartNode]] = field(default_factory=dict)
    _reads: dict[int, tuple[Plan, Reads]] = field(default_factory=dict)

    def part(self, plan: Plan) -> PartNode:
        """Returns the part of a plan; whole where it cannot be split."""
        reads = self._reading(plan)
        if not reads.root and not reads.refs & self._refs.keys():
            return PartNode(plan)
        if reads.refs:  # what a recursion carries is not known yet, and it cannot be left whole
            found = self._rule(plan)
            if found.kept is None:
                raise _NotSplitError
            return found
        # Inlined views occur many times as the same object.
        known = self._known.get(id(plan))
        if known is None:
            try:
                found = self._rule(plan)
            except _NotSplitError:
                found = PartNode(plan)
            known = self._known[id(plan)] = (plan, found)
        return known[1]

    def _rule(self, plan: Plan) -> PartNode:
        match plan:
            case Scan():
                return self._scan(plan)
            case RecursiveRef():
                return PartNode(plan, by_name(self._refs[plan.name], plan.columns))
            case Window():
                return self._window(plan)
            case Filter():
                child = self.part(plan.child)
                kept = child.kept
                if kept is not None:
                    kept = with_equals(kept, equalities(plan.predicate))
                return PartNode(replace(plan, child=child.plan), kept)
            case Project():
                child = self.part(plan.child)
                outputs = [(c.name, e.name) for c, e in plan.outputs if isinstance(e, Col)]
                return PartNode(replace(plan, child=child.plan), through(child.kept, outputs))
            case Ship():
                child = self.part(plan.child)
                return PartNode(replace(plan, child=child.plan), child.kept)
            case Distinct():
                return self._by(plan, [column.name for column in plan.columns])
            case GroupBy():
                return self._by(plan, plan.keys)
            case TopK() | Over():
                return self._by(plan, plan.partition_by)
            case Join():
                return self._join(plan)
            case AntiJoin() | OuterJoin() | MarkJoin():
                return self._beside(plan)
            case Union():
                return self._union(plan)
            case SetOperation():
                return self._set_operation(plan)
            case Fixpoint():
                return self._fixpoint(plan)
            case Values():
                return PartNode(plan)
            case Apply():
                raise NotFlat

    def _scan(self, plan: Scan) -> PartNode:
        if plan.stream:
            raise _NotSplitError  # a window must see all of it
        kept = self._carried_by(plan)
        return PartNode(self._restricted(plan, value_column(kept)).plan, kept)

    def _carried_by(self, plan: Scan) -> Kept:
        kept: dict[str, Carried] = {}
        for column in plan.columns:
            own = column.name.split(".")[-1]
            if own == self.root.column:
                kept[column.name] = Carried.VALUE
            elif own == self.root.key and not plan.stream:
                kept[column.name] = Carried.KEY
        return kept

    def _window(self, plan: Window) -> PartNode:
        """Split what a window holds; every part sees the whole stream, which pushes rows out."""
        scan, renamings = plan.child, []
        while isinstance(scan, Filter | Project):
            if isinstance(scan, Project):
                renamings.append(scan)
            scan = scan.child
        if not isinstance(scan, Scan):
            raise _NotSplitError
        kept: Kept | None = self._carried_by(scan)
        for project in reversed(renamings):
            outputs = [(c.name, e.name) for c, e in project.outputs if isinstance(e, Col)]
            kept = through(kept, outputs)
        return self._restricted(plan, value_column(kept or {}))

    def _restricted(self, plan: Plan, column: str | None) -> PartNode:
        """Take a part of a whole node by one of its own columns."""
        if column is None:
            raise _NotSplitError
        mine = Filter(plan, in_part(column, self.number, self.parts))
        return PartNode(mine, {column: Carried.VALUE})

    def _by(self, plan: Distinct | GroupBy | TopK | Over, columns: Iterable[str]) -> PartNode:
        """Split what compares rows that are equal in some columns."""
        child = self.part(plan.child)
        if child.kept is None:
            return PartNode(plan)
        kept = only(child.kept, columns)
        if not kept:
            raise _NotSplitError
        return PartNode(replace(plan, child=child.plan), kept)

    def _join(self, plan: Join) -> PartNode:
        left, right = self.part(plan.left), self.part(plan.right)
        if left.kept is None and right.kept is None:
            return PartNode(plan)
        both = left.kept is not None and right.kept is not None
        if both and not meets(left.kept or {}, right.kept or {}, plan.on):
            # One side alone will do. What belongs to a recursion cannot be whole.
            movable = [s for s in (plan.left, plan.right) if not self._reading(s).refs]
            if not movable:
                raise _NotSplitError
            if min(reversed(movable), key=_recursions) is plan.left:
                left = PartNode(plan.left)
            else:
                right = PartNode(plan.right)
        kept = {**(left.kept or {}), **(right.kept or {})}
        made = replace(plan, left=left.plan, right=right.plan)
        return PartNode(made, with_equals(kept, [*plan.on, *equalities(plan.residual)]))

    def _beside(self, plan: AntiJoin | OuterJoin | MarkJoin) -> PartNode:
        """Split by the left rows; whether one has a partner must not depend on the part."""
        left, right = self.part(plan.left), self.part(plan.right)
        if right.kept is not None and left.kept is None:
            equal = [one for one, other in plan.on if right.kept.get(other) is Carried.VALUE]
            if equal:
                left = self._restricted(plan.left, equal[0])
        if left.kept is None:
            return PartNode(plan)
        if right.kept is not None and not meets(left.kept, right.kept, plan.on):
            if self._reading(plan.right).refs:
                raise _NotSplitError
            right = PartNode(plan.right)
        return PartNode(replace(plan, left=left.plan, right=right.plan), left.kept)

    def _union(self, plan: Union) -> PartNode:
        parts = [self.part(child) for child in plan.children]
        common = _common(plan.children, parts)
        if common is None:
            return PartNode(plan)
        names = [column.name for column in plan.columns]
        if Carried.VALUE not in common.values() and any(part.kept is None for part in parts):
            if not names:
                raise _NotSplitError
            made, _ = self._alike(plan.children, parts, {0: Carried.VALUE})
            return PartNode(Union(tuple(made)), {})
        made, common = self._alike(plan.children, parts, common)
        return PartNode(Union(tuple(made)), {names[index]: how for index, how in common.items()})

    def _set_operation(self, plan: SetOperation) -> PartNode:
        sides = (plan.left, plan.right)
        parts = [self.part(side) for side in sides]
        common = _common(sides, parts)
        if not common:
            raise _NotSplitError
        made, common = self._alike(sides, parts, common)
        return PartNode(replace(plan, left=made[0], right=made[1]), by_name(common, plan.columns))

    def _alike(
        self, plans: Sequence[Plan], parts: Sequence[PartNode], common: Indexed
    ) -> tuple[list[Plan], Indexed]:
        """Split those that are whole by a value that the others carry."""
        if all(part.kept is not None for part in parts):
            return [part.plan for part in parts], common
        value = next((i for i, how in sorted(common.items()) if how is Carried.VALUE), None)
        if value is None:
            raise _NotSplitError
        made = [
            self._restricted(plan, plan.columns[value].name).plan
            if part.kept is None
            else part.plan
            for plan, part in zip(plans, parts, strict=True)
        ]
        return made, {value: Carried.VALUE}

    def _fixpoint(self, plan: Fixpoint) -> PartNode:
        """Find the columns that every branch of every relation carries: the greatest such set."""
        if plan.most is not None:
            raise _NotSplitError  # how many rows there may be is said of all parts together
        outer = dict(self._refs)
        try:
            kept = {one.name: self._begin(one) for one in plan.relations}
            while True:
                self._refs.update(kept)
                made = [self._branch(one, kept[one.name]) for one in plan.relations]
                now = {
                    one.name: indexed
                    for one, (_, _, indexed) in zip(plan.relations, made, strict=True)
                }
                if not all(now.values()):
                    raise _NotSplitError
                if now == kept:
                    break
                kept = now
        finally:
            self._refs = outer
        branches = tuple(branch for base, step, _ in made for branch in (base, step))
        return PartNode(with_children(plan, branches), by_name(kept[plan.name], plan.columns))

    def _begin(self, one: Recursive) -> Indexed:
        """Returns the most that a relation of a recursion could carry."""
        base = self.part(one.base)
        indexed = by_index(base.kept, one.base)
        if indexed is None:
            # A whole base is split by any of its columns.
            indexed = dict.fromkeys(range(len(one.columns)), Carried.VALUE)
        return self._selected(one, indexed)

    def _selected(self, one: Recursive, indexed: Indexed) -> Indexed:
        if one.best is None:
            return indexed
        names = [column.name for column in one.columns]
        keys = {names.index(key) for key in one.best.keys}
        return {index: how for index, how in indexed.items() if index in keys}

    def _branch(self, one: Recursive, indexed: Indexed) -> tuple[Plan, Plan, Indexed]:
        """Split base and step, given what the recursion carries; and say what they carry."""
        branches = (one.base, one.step)
        parts = [self.part(branch) for branch in branches]
        found = _common(branches, parts)
        common = indexed if found is None else common_indices([indexed, found]) or {}
        (base, step), common = self._alike(branches, parts, common)
        return base, step, self._selected(one, common)

    def _reading(self, plan: Plan) -> Reads:
        known = self._reads.get(id(plan))
        if known is None:
            known = self._reads[id(plan)] = (plan, self._read_by(plan))
        return known[1]

    def _read_by(self, plan: Plan) -> Reads:
        if isinstance(plan, Scan):
            return Reads(plan.relation == self.root.relation)
        if isinstance(plan, RecursiveRef):
            return Reads(refs=frozenset((plan.name,)))
        found = [self._reading(child) for child in children(plan)]
        refs = frozenset[str]().union(*(one.refs for one in found))
        if isinstance(plan, Fixpoint):
            refs -= {one.name for one in plan.relations}
        return Reads(any(one.root for one in found), refs)


def _common(plans: Sequence[Plan], parts: Sequence[PartNode]) -> Indexed | None:
    """Returns what all carry that are not whole, by index; None where all are."""
    found = [by_index(part.kept, plan) for plan, part in zip(plans, parts, strict=True)]
    return common_indices([kept for kept in found if kept is not None])


def _recursions(plan: Plan) -> int:
    return sum(isinstance(node, Fixpoint) for node in nodes(plan))
