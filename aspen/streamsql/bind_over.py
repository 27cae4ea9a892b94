"""OVER, WINDOW and QUALIFY: what is computed beside each row from the rows around it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sqlglot import exp

from aspen.algebra.evaluate import compile_expr
from aspen.algebra.expr import Col, Expr
from aspen.algebra.plan import (
    SHIFTS,
    WHOLE,
    Frame,
    Framed,
    Over,
    OverFunction,
    Pick,
    PickFunction,
    Plan,
    Rank,
    RankFunction,
    SortKey,
)
from aspen.algebra.renaming import extended, narrowed
from aspen.errors import Position
from aspen.model.schema import Column, Type, Value
from aspen.streamsql.aggregates import bind_aggregate
from aspen.streamsql.bind_expr import ExpressionBinder
from aspen.streamsql.bind_frame import bind_frame, whole_number
from aspen.streamsql.bind_order import sort_key
from aspen.streamsql.errors import (
    MisplacedAggregate,
    UnknownFunction,
    WrongArity,
    nearest,
    suggestion,
)
from aspen.streamsql.positions import at, placed, whole
from aspen.streamsql.scope import Environment
from aspen.streamsql.tree import (
    FunctionCall,
    call_of,
    called_at,
    constant,
    has_over,
    unsupported,
)
from aspen.streamsql.typing_rules import Typed, beside_decimals, meeting, widened

_FLOATS = (RankFunction.PERCENT_RANK, RankFunction.CUME_DIST)
_Spec = tuple[tuple[str, ...], tuple[SortKey, ...]]


@dataclass(frozen=True, slots=True)
class _Window:
    """What stands behind OVER, names of windows looked up."""

    partition_by: list[exp.Expr]
    order: list[exp.Expr]
    frame: exp.Expr | None


_SHIFTS = frozenset(function.value for function in SHIFTS)


@dataclass
class Overs:
    """What the OVERs of one SELECT compute.

    Args:
        select: the SELECT, for its WINDOW clause.
        found: functions by partition and order: one node each.
        kept: columns made for what they read.
    """

    environment: Environment
    select: exp.Expr
    found: dict[_Spec, list[OverFunction]] = field(default_factory=dict)
    kept: list[tuple[Column, Expr]] = field(default_factory=list)

    def binder(self, inner: ExpressionBinder) -> ExpressionBinder:
        """Returns a binder that takes OVER, and leaves everything else to another one."""

        def first(node: exp.Expr) -> Typed | None:
            if isinstance(node, exp.Window):
                shifted = _with_default(node)
                return self._bind(node, inner) if shifted is None else outer.bind(shifted)
            return None if inner.first is None else inner.first(node)

        outer = ExpressionBinder(inner.scope, first, inner.subqueries)
        return outer

    def over(self, plan: Plan) -> Plan:
        """Returns a plan's rows with what the OVERs compute beside them."""
        if not self.found:
            return plan
        columns = plan.columns
        plan = extended(plan, self.kept)
        for (partition, order), functions in self.found.items():
            plan = Over(plan, tuple(functions), partition, order)
        made = tuple(one.output for many in self.found.values() for one in many)
        return narrowed(plan, columns + made)

    def qualify(self, binder: ExpressionBinder, aliases: dict[str, exp.Expr]) -> Expr | None:
        """Binds QUALIFY, which knows the names of the select list.

        Args:
            binder: of the select list.
            aliases: what the select list calls by a name.
        """
        clause = self.select.args.get("qualify")
        if clause is None:
            return None
        spoken = {name.rpartition(".")[2] for name in binder.scope.spoken}

        def meant(node: exp.Expr) -> exp.Expr:
            named = isinstance(node, exp.Column) and not node.table and node.name not in spoken
            return aliases[node.name].copy() if named and node.name in aliases else node

        return binder.predicate(clause.this.transform(meant), "QUALIFY").expr

    def _bind(self, node: exp.Window, binder: ExpressionBinder) -> Typed:
        here = called_at(node)
        inside = [part for part in node.iter_expressions() if has_over(part)]
        if inside:
            raise MisplacedAggregate(
                "OVER cannot stand inside OVER",
                position=whole(inside[0]),
                attempt="compute the inner one in a sub-select",
            )
        window = self._window(node)
        keys = [binder.bind(key.this) for key in window.order]
        partition = tuple(self._keep(binder.bind(part), "part") for part in window.partition_by)
        names = [self._keep(key, "key") for key in keys]
        order = tuple(map(sort_key, names, window.order))
        function = self._function(node, binder, bind_frame(window.frame, keys, binder))
        known = self.found.setdefault((partition, order), [])
        for one in known:
            if _named(one, function.output.name) == function:
                output = one.output
                break
        else:
            name = f"over_{next(self.environment.numbers)}.value"
            known.append(_named(function, name))
            output = known[-1].output
        return Typed(Col(output.name), output.type, output.unit, output.nullable, here)

    def _window(self, node: exp.Window) -> _Window:
        """Returns what a window is, with what the WINDOW clause says of the one it names."""
        order = node.args.get("order")
        own = _Window(
            list(node.args.get("partition_by") or ()),
            [] if order is None else list(order.expressions),
            node.args.get("spec"),
        )
        name = node.args.get("alias")
        if name is None:
            return own
        known = {one.this.name: one for one in self.select.args.get("windows") or ()}
        found = known.get(name.name)
        if found is None or found is node:
            raise UnknownFunction(
                f"there is no window {name.name!r}",
                position=at(name),
                found=name.name,
                exists=nearest(name.name, known),
                attempt=suggestion(name.name, known) or "define it: WINDOW w AS (ORDER BY x)",
            )
        above = self._window(found)
        return _Window(
            own.partition_by or above.partition_by,
            own.order or above.order,
            own.frame or above.frame,
        )

    def _function(self, node: exp.Window, binder: ExpressionBinder, frame: Frame) -> OverFunction:
        called, ignores = _unwrapped(node.this)
        call = call_of(called)
        here = called_at(called)
        if call is None:
            raise unsupported(f"{type(called).__name__.upper()} OVER", node, "ROW_NUMBER() OVER ()")
        if call.arguments and isinstance(call.arguments[0], exp.IgnoreNulls | exp.RespectNulls):
            ignores = isinstance(call.arguments[0], exp.IgnoreNulls)
            call = call._replace(arguments=(call.arguments[0].this, *call.arguments[1:]))
        name = call.name.upper()
        picks = name in PickFunction.__members__
        if ignores and not picks:
            raise unsupported(f"IGNORE NULLS for {name}", node, "FILTER (WHERE x IS NOT NULL)")
        if (call.distinct or call.order) and call.aggregate is None:
            raise unsupported(f"DISTINCT or ORDER BY inside {name}", node, "leave it out")
        if name in RankFunction.__members__:
            return _rank(RankFunction[name], call, here)
        if picks:
            return self._pick(PickFunction[name], call, binder, frame, here, ignores=ignores)
        if call.aggregate is not None:
            found = bind_aggregate(
                call, call.aggregate, called, binder.bind, self._keep, may_be_empty=True
            )
            return Framed(found, frame)
        names = [one.lower() for kind in (RankFunction, PickFunction) for one in kind.__members__]
        raise UnknownFunction(
            f"{call.name!r} is not computed OVER rows",
            position=here,
            found=call.name,
            exists=nearest(call.name, names),
            attempt=suggestion(call.name, names) or "an aggregate, row_number(), lag(x)",
        )

    def _pick(
        self,
        function: PickFunction,
        call: FunctionCall,
        binder: ExpressionBinder,
        frame: Frame,
        here: Position,
        *,
        ignores: bool,
    ) -> Pick:
        shifts = function in SHIFTS
        counted = shifts or function is PickFunction.NTH_VALUE
        least, most = (1, 3) if shifts else (2, 2) if counted else (1, 1)
        _check_count(function.value, call, least, most, here)
        value, *others = call.arguments
        typed = binder.bind(value)
        offset = whole_number(others[0], 0 if shifts else 1) if counted and others else 1
        default: Value = None
        if others[1:]:
            given = binder.bind(others[1])
            found = constant(others[1])
            if found is None:
                raise unsupported(f"computed default of {function.value}", others[1], "a constant")
            typed, given = beside_decimals((typed, given))
            kind, _ = meeting(typed, given, "give")
            if kind is not typed.type:
                typed = replace(typed, expr=widened(typed.expr, typed.type, kind), type=kind)
            default = compile_expr(widened(given.expr, given.type, kind), ())(())
        output = Column("made", typed.type or Type.TEXT, typed.unit, nullable=True)
        used = WHOLE if shifts else frame
        return Pick(function, self._keep(typed), output, used, offset, default, ignores)

    def _keep(self, value: Typed, word: str = "value") -> str:
        """Returns the name of the column that holds what an OVER reads."""
        if isinstance(value.expr, Col):
            return value.expr.name
        for column, expr in self.kept:
            if expr == value.expr:
                return column.name
        name = f"over_{next(self.environment.numbers)}.{word}"
        column = Column(name, value.type or Type.TEXT, value.unit, value.nullable)
        self.kept.append((column, value.expr))
        return name


def row_aliases(select: exp.Expr) -> dict[str, exp.Expr]:
    """Returns what a select list calls by names of its own."""
    return {one.alias: one.this for one in select.expressions if isinstance(one, exp.Alias)}


def _named(function: OverFunction, name: str) -> OverFunction:
    if isinstance(function, Framed):
        aggregate = function.aggregate
        return replace(
            function, aggregate=replace(aggregate, output=replace(aggregate.output, name=name))
        )
    return replace(function, output=replace(function.output, name=name))


def _unwrapped(tree: exp.Expr) -> tuple[exp.Expr, bool]:
    """Returns a call without IGNORE NULLS behind it, and whether that stands there."""
    if isinstance(tree, exp.IgnoreNulls | exp.RespectNulls):
        return tree.this, isinstance(tree, exp.IgnoreNulls)
    return tree, False


def _rank(function: RankFunction, call: FunctionCall, here: Position) -> Rank:
    counts = function is RankFunction.NTILE
    _check_count(function.value, call, int(counts), int(counts), here)
    kind = Type.FLOAT if function in _FLOATS else Type.INT
    parts = whole_number(call.arguments[0], 1) if counts else 1
    return Rank(function, Column("made", kind), parts)


def _check_count(name: str, call: FunctionCall, least: int, most: int, here: Position) -> None:
    given = len(call.arguments)
    if call.star or not least <= given <= most:
        wanted = f"{least} argument(s)" if least == most else f"{least} to {most} arguments"
        raise WrongArity(
            f"{name} takes {wanted}, not {'*' if call.star else given}",
            position=here,
            found="*" if call.star else str(given),
            exists=(wanted,),
            attempt=f"{name}({', '.join(['column', '1', '0'][:least])}) OVER (ORDER BY column)",
        )


def _with_default(node: exp.Window) -> exp.Expr | None:
    """Returns LAG or LEAD with a computed default in other words; None for anything else."""
    shift = node.this
    if not isinstance(shift, exp.Anonymous) or shift.name.upper() not in _SHIFTS:
        return None
    match shift.expressions:
        case [value, offset, default] if constant(default) is None:
            if isinstance(value, exp.IgnoreNulls):
                return None
        case _:
            return None

    def shifted(what: exp.Expr) -> exp.Expr:
        found = node.copy()
        found.this.set("expressions", [placed(what, at(value)), offset.copy()])
        return found

    missing = placed(exp.Is(this=shifted(exp.true()), expression=exp.Null()), at(node))
    branch = exp.If(this=missing, true=default.copy())
    return placed(exp.Case(ifs=[branch], default=shifted(value.copy())), at(node))
