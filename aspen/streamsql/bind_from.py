"""FROM and WHERE: sources with their windows, joins and conditions."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sqlglot import exp

from aspen.algebra.expr import Expr, Outer, columns_in, conjunction
from aspen.algebra.expr import conjuncts as expr_conjuncts
from aspen.algebra.plan import (
    Apply,
    ApplyKind,
    Join,
    Plan,
    Project,
    Union,
)
from aspen.algebra.plan_parts import MOST_HEIGHT
from aspen.algebra.renaming import extended, filtered
from aspen.effort import too_complex
from aspen.errors import Position
from aspen.model.schema import Column, Type
from aspen.streamsql.aliases import meant, spelt_out
from aspen.streamsql.bind_expr import ExpressionBinder
from aspen.streamsql.bind_source import SourceBinder
from aspen.streamsql.bind_subquery import Subqueries, refuse_recursion_around
from aspen.streamsql.errors import NonStratified
from aspen.streamsql.joined import (
    Joined,
    column_typed,
    merged,
    nullable,
    outer_join,
    padded,
    shared_columns,
    side_by_side,
)
from aspen.streamsql.positions import at, whole
from aspen.streamsql.scope import Environment, NamedSource, Scope, bare
from aspen.streamsql.tree import (
    Item,
    SubqueryTest,
    conjuncts,
    items_of,
    subquery_test,
    unsupported,
    within,
)
from aspen.streamsql.typing_calls import call
from aspen.streamsql.typing_operators import operator


@dataclass(frozen=True, slots=True)
class BoundRows:
    """What FROM and WHERE give.

    Args:
        varies: whether WHERE computes what a sub-query says of a row.
        recursive: whether FROM names the recursive view in its own step.
        items: the select list, its own names spelt out.
        named: what they stand for.
    """

    plan: Plan
    scope: Scope
    varies: bool
    recursive: bool
    items: list[Item]
    named: dict[str, exp.Expr]


@dataclass(slots=True)
class _Group:
    """Sources between two commas, with the conditions of their inner joins.

    Args:
        parts: each with where the text names it.
    """

    parts: list[tuple[Joined, Position]] = field(default_factory=list)
    conditions: list[exp.Expr] = field(default_factory=list)


class FromBinder:
    """Binds the FROM and WHERE of one SELECT.

    Args:
        environment: what names in FROM mean, and the scope around.
    """

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self._sources = SourceBinder(environment)
        self._unnamed = 0

    def bind(self, select: exp.Expr) -> BoundRows:
        """Bind FROM and WHERE."""
        _refuse_many(select)
        groups = [_Group()]
        found = select.args.get("from_")
        if found is not None:
            self._add_source(found.this, groups)
        for join in select.args.get("joins") or ():
            self._add_join(join, groups)
        joined = side_by_side(part for group in groups for part in group.parts)
        conditions = [condition for group in groups for condition in group.conditions]
        scope = self._scope(joined)
        recursive = any(source.recursive for source in joined.leaves.values())
        # Steps of a recursion are read as they are written, to see that they end.
        items = items_of(select)
        items, named = (items, {}) if recursive else spelt_out(items, scope)
        where = select.args.get("where")
        conditions += [] if where is None else [meant(where.this, named)]
        subqueries = Subqueries(self.environment, scope)
        binder = ExpressionBinder(scope, subqueries=subqueries)
        later: list[Expr] = []
        for tree in (part for condition in conditions for part in conjuncts(condition)):
            test = _condition(tree)
            if test is not None:
                subqueries.condition(test, at(tree), binder)
                continue
            # One condition may say several: BETWEEN, (a, b) = (c, d).
            for said in expr_conjuncts(binder.predicate(tree, "WHERE").expr):
                reads_made = columns_in(said) & subqueries.made
                (later if reads_made else joined.predicates).append(said)
        plan = filtered(subqueries.over(joined.plan), later)
        return BoundRows(plan, scope, subqueries.vary, recursive, items, named)

    def _name(self) -> str:
        """Returns a name for a sub-select without one."""
        self._unnamed += 1
        return f"query_{self._unnamed}"

    def _scope(self, joined: Joined) -> Scope:
        return Scope(joined.leaves, self.environment.outer, joined.merged)

    def _add_source(self, tree: exp.Expr, groups: list[_Group]) -> None:
        group = groups[-1]
        if isinstance(tree, exp.Subquery) and isinstance(tree.this, exp.Table):
            # FROM (a JOIN b ON …)
            inside = [_Group()]
            self._add_source(tree.this, inside)
            group.parts += [part for one in inside for part in one.parts]
            group.conditions += [condition for one in inside for condition in one.conditions]
        elif isinstance(tree, exp.Lateral):
            groups[:] = [self._lateral(tree, groups)]
        else:
            named, plan, source = self._sources.bind(tree, self._name())
            here = at(tree.this) if isinstance(tree.this, exp.Identifier) else whole(tree)
            group.parts.append((Joined([plan], leaves={named: source}), here))
        for join in tree.args.get("joins") or ():
            self._add_join(join, groups)

    def _add_join(self, join: exp.Expr, groups: list[_Group]) -> None:
        side = str(join.args.get("side") or "")
        kind = str(join.args.get("kind") or "")
        method = str(join.args.get("method") or "")
        using = [part.name for part in join.args.get("using") or ()]
        on = join.args.get("on")
        if method not in ("", "NATURAL"):
            raise unsupported(f"{method} JOIN", join.this, "a JOIN with ON, or LATERAL (SELECT …)")
        if kind not in ("", "INNER", "CROSS", "OUTER", "SEMI", "ANTI"):
            raise unsupported(
                kind.replace("_", " "), join.this, "JOIN: the optimizer chooses orders"
            )
        if not (side or method or using or kind in ("SEMI", "ANTI")):
            if not kind and on is None:
                groups.append(_Group())
            self._add_source(join.this, groups)
            groups[-1].conditions += [] if on is None else [on]
            return
        if isinstance(join.this, exp.Lateral):
            if side != "LEFT" or method or using:
                spelt = f"{method or side or kind or 'USING'} with LATERAL"
                raise unsupported(spelt, join.this, "LEFT JOIN LATERAL (…) s ON TRUE")
            groups[:] = [self._lateral(join.this, groups, outer=True, on=on)]
            return
        right = [_Group()]
        self._add_source(join.this, right)
        left = _left(groups, right, on, side)
        joined = self._joined(join, side or kind or "INNER", using, left, right[0])
        groups.append(_Group([(joined, whole(join.this))]))

    def _lateral(
        self,
        tree: exp.Lateral,
        groups: list[_Group],
        *,
        outer: bool = False,
        on: exp.Expr | None = None,
    ) -> _Group:
        """Bind a sub-select that reads the rows of the sources before it.

        Args:
            outer: whether a row for which it has none stays, beside nulls.
            on: which of its rows count then.
        """
        here = whole(tree)
        sides = [(self._side(group), here) for group in groups if group.parts]
        left = side_by_side(sides)
        scope = self._scope(left)
        named, right, source = self._sources.beside(scope).bind(tree, self._name())
        refuse_recursion_around(right, here)
        both = side_by_side([(left, here), (Joined(leaves={named: source}), here)])
        right = filtered(right, _predicates(on, Scope({named: source}, scope)))
        rows = Apply(left.plan, right, ApplyKind.ROWS)
        both.plans, both.predicates = [rows], []
        if outer:
            if _recursive(left):
                raise _not_stratified("LEFT JOIN LATERAL", here)
            alone = Apply(left.plan, Project(right, ()), ApplyKind.NOT_EXISTS)
            both.leaves[named] = nullable(source)
            columns = left.plan.columns + both.leaves[named].columns
            both.plans = [Union((padded(rows, columns), padded(alone, columns)))]
        return _Group([(both, here)])

    def _side(self, group: _Group) -> Joined:
        """Returns the sources of a group, as far as they pass its conditions."""
        side = side_by_side(group.parts)
        for condition in group.conditions:
            side.predicates += _predicates(condition, self._scope(side))
        return side

    def _joined(
        self, join: exp.Expr, kind: str, using: list[str], left_group: _Group, right_group: _Group
    ) -> Joined:
        """Bind an outer join, or one with USING or NATURAL."""
        here = whole(join.this)
        left, right = self._side(left_group), self._side(right_group)
        both = side_by_side([(left, here), (right, here)])
        natural = join.args.get("method") == "NATURAL"
        scopes = (self._scope(left), self._scope(right))
        shared = shared_columns(using, *scopes, here, natural=natural)
        if kind in ("SEMI", "ANTI"):
            return self._partnered(join, kind, left, right, shared)
        pairs = [(column_typed(a, here), column_typed(b, here)) for a, b in shared]
        on = [operator("=", one, other, here).expr for one, other in pairs]
        both.merged |= merged(shared, right=kind == "RIGHT")
        on += _predicates(join.args.get("on"), self._scope(both))
        if kind == "INNER":
            both.predicates += on
            return both
        kept = kind == "LEFT" and not _recursive(right)
        if _recursive(both) and not kept:
            raise _not_stratified(f"{kind} JOIN", here)
        if kind in ("RIGHT", "FULL"):
            both.leaves |= {alias: nullable(leaf) for alias, leaf in left.leaves.items()}
        if kind in ("LEFT", "FULL"):
            both.leaves |= {alias: nullable(leaf) for alias, leaf in right.leaves.items()}
        columns = tuple(c for leaf in both.leaves.values() for c in leaf.columns)
        if _recursive(left):
            # A recursive row stays whatever the others are, so both halves grow with the recursion.
            rows = filtered(Join(left.plan, right.plan), on)
            alone = self._tested(ApplyKind.NOT_EXISTS, join, left, right, shared)
            plan: Plan = Union((padded(rows, columns), padded(alone, columns)))
        else:
            plan = outer_join(kind, left.plan, right.plan, conjunction(on), columns)
        both.plans, both.predicates = [plan], []
        if kind == "FULL" and shared:
            self._merge(both, shared, here)
        return both

    def _partnered(
        self,
        join: exp.Expr,
        kind: str,
        left: Joined,
        right: Joined,
        shared: list[tuple[Column, Column]],
    ) -> Joined:
        """Returns the rows of the left that have a partner, or for ANTI those that have none."""
        if _recursive(right):
            raise _not_stratified(f"{kind} JOIN", whole(join.this))
        how = ApplyKind.EXISTS if kind == "SEMI" else ApplyKind.NOT_EXISTS
        left.plans, left.predicates = [self._tested(how, join, left, right, shared)], []
        return left

    def _tested(
        self,
        how: ApplyKind,
        join: exp.Expr,
        left: Joined,
        right: Joined,
        shared: list[tuple[Column, Column]],
    ) -> Plan:
        """Returns the rows of the left that have a partner, or have none."""
        here = whole(join.this)
        on: list[Expr] = []
        for one, other in shared:
            around = replace(column_typed(one, here), expr=Outer(one.name))
            on.append(operator("=", around, column_typed(other, here), here).expr)
        on += _predicates(join.args.get("on"), Scope(right.leaves, self._scope(left), right.merged))
        return Apply(left.plan, Project(filtered(right.plan, on), ()), how)

    def _merge(self, joined: Joined, shared: list[tuple[Column, Column]], here: Position) -> None:
        """Let a column that USING shares be the side's that has it, as neither has it always."""
        number = next(self.environment.numbers)
        alias = f"using_{number}"
        made: list[tuple[Column, Expr]] = []
        for one, other in shared:
            either = call("coalesce", [column_typed(one, here), column_typed(other, here)], here)
            kind = either.type or Type.TEXT
            nullable = one.nullable or other.nullable
            column = Column(f"{alias}.{bare(one)}", kind, either.unit, nullable)
            made.append((column, either.expr))
        joined.plans = [extended(joined.plan, made)]
        # No text can name it: names have no spaces.
        joined.leaves[f"using {number}"] = NamedSource(alias, tuple(column for column, _ in made))
        for pair, (column, _) in zip(shared, made, strict=True):
            joined.merged |= {one.name: column.name for one in pair}


def _recursive(side: Joined) -> bool:
    return any(leaf.recursive for leaf in side.leaves.values())


def _not_stratified(join: str, here: Position) -> NonStratified:
    return NonStratified(
        f"{join} of a recursive view in its own step has no least answer",
        position=here,
        found=join,
        attempt="join with the finished view, in the query that reads it",
    )


def _refuse_many(select: exp.Expr) -> None:
    """Refuse a SELECT of more sources than a plan may have operators above each other.

    Raises:
        TooComplex: before any of them is looked up.
    """
    joins = select.args.get("joins") or ()
    if len(joins) >= MOST_HEIGHT:
        raise too_complex(
            f"one SELECT joins at most {MOST_HEIGHT} relations", f"{len(joins) + 1} relations"
        )


def _predicates(on: exp.Expr | None, scope: Scope) -> list[Expr]:
    """Returns what the condition of a join says."""
    binder = ExpressionBinder(scope)
    bound = [binder.predicate(part, "ON").expr for part in conjuncts(on)]
    return [said for expr in bound for said in expr_conjuncts(expr)]


def _left(groups: list[_Group], right: list[_Group], on: exp.Expr | None, side: str) -> _Group:
    """Take what stands left of an outer join: the sources since the comma, or all of them.

    Law: `a, (b LEFT JOIN c)` == `(a, b) LEFT JOIN c` wherever both can be read.
    """
    last = groups.pop()
    if side != "LEFT" or on is None or not groups:
        return last
    known = {alias for group in (last, *right) for part, _ in group.parts for alias in part.leaves}
    if {column.table for column in within(on) if isinstance(column, exp.Column)} <= known:
        return last
    every = (*groups, last)
    groups.clear()
    return _Group(
        [part for group in every for part in group.parts],
        [condition for group in every for condition in group.conditions],
    )


def _condition(tree: exp.Expr) -> SubqueryTest | None:
    """Returns the question to a query that a condition is, NOT in front of it included."""
    if isinstance(tree, exp.Not):
        test = subquery_test(tree.this)
        return None if test is None or test.negated else test._replace(negated=True)
    return subquery_test(tree)
