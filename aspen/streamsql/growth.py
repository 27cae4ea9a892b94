"""Whether a recursive step surely ends: costs grow under MIN, shrink under MAX, or are bounded.

Without a MIN or MAX, a step that computes new values (`hops + 1`) must stop at a bound
(`WHERE w.hops < 10`), or a circle in the data would count for ever. One column that climbs to a
bound ends the whole recursion, so the others may then compute what they like (a path's text).
"""

from __future__ import annotations

from aspen.algebra.expr import Call, Case, Col, Const, Expr, Op, columns_in, parts
from aspen.algebra.plan import AggregateFunction, Best
from aspen.errors import Position
from aspen.model.schema import Type
from aspen.streamsql.ast import Cte, SelectQuery
from aspen.streamsql.bound import BoundSelect, RecursionSource
from aspen.streamsql.errors import NotMonotone, UnboundedRecursion, Unsupported

_UP = ("<", "<=")
_DOWN = (">", ">=")
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def check_growth(
    cte: Cte,
    step: SelectQuery,
    bound: BoundSelect,
    best: Best | None,
    *,
    ends: bool | None = None,
) -> None:
    """Refuse a step that is not known to end.

    Args:
        ends: whether a climbing column ends the recursion, None to find out from this step.

    Raises:
        NotMonotone: MIN over what may shrink, MAX over what may grow, or a condition or key
            that a better cost could take back.
        UnboundedRecursion: new values without a bound.
    """
    source = next(s for s in bound.origin.sources if isinstance(s, RecursionSource))
    own = {column.name for column in source.columns}
    if ends is None:
        ends = bool(climbing(bound))
    for index, (_, expr) in enumerate(bound.outputs):
        at = step.items[index].at if index < len(step.items) else step.at
        column = source.columns[index].name
        if best is not None and column.rpartition(".")[2] == best.column:
            _check_best(expr, column, best, at)
        elif best is not None and _cost_column(source, best) in columns_in(expr):
            raise NotMonotone(
                f"{best.column} decides a key of its own {best.function.value}",
                position=at,
                found=best.column,
                attempt="keys must not depend on the cost",
            )
        elif not ends and columns_in(expr) & own and not isinstance(expr, Col):
            _check_bound(cte, bound, expr, column, at)
    if best is not None:
        _check_conditions(step, bound, _cost_column(source, best), best)
    _check_negation(cte, step, bound)


def climbing(bound: BoundSelect) -> frozenset[tuple[int, bool]]:
    """Give the columns that end a step: each derived row is strictly further, up to a bound.

    Either the step adds a positive number to a whole number that it compares with a constant, or
    the column is another source's (so there are finitely many values) and compared with the own.

    Returns:
        Places of the columns, with whether they rise or fall.

    Law: along a derivation such a column takes each of finitely many values at most once.
    Source: own.
    """
    source = next(s for s in bound.origin.sources if isinstance(s, RecursionSource))
    own = {column.name for column in source.columns}
    found: set[tuple[int, bool]] = set()
    for place, (column, (_, expr)) in enumerate(zip(source.columns, bound.outputs, strict=True)):
        # A large FLOAT swallows the 1 that is added to it.
        for rising in (True, False) if column.type is Type.INT else ():
            if isinstance(expr, Col) and expr.name not in own:
                ends = any(
                    _beyond(p, expr.name, column.name, rising=rising)
                    for p in bound.origin.predicates
                )
            else:
                symbols = _UP if rising else _DOWN
                ends = _strictly(expr, column.name, rising=rising) and any(
                    _side(p, column.name) in symbols and columns_in(p) == {column.name}
                    for p in bound.origin.predicates
                )
            if ends:
                found.add((place, rising))
    return frozenset(found)


def _strictly(expr: Expr, column: str, *, rising: bool) -> bool:
    """Whether an expression is the column and a positive whole number more (or less)."""
    match expr:
        case Op("+", Col(name), Const(value)) | Op("+", Const(value), Col(name)) if rising:
            pass
        case Op("-", Col(name), Const(value)) if not rising:
            pass
        case _:
            return False
    return name == column and type(value) is int and value > 0


def _beyond(predicate: Expr, other: str, column: str, *, rising: bool) -> bool:
    """Whether a predicate says that `other` is strictly above (rising) or below `column`."""
    match predicate:
        case Op("=", Col(name), expr) | Op("=", expr, Col(name)) if name == other:
            return _strictly(expr, column, rising=rising)
        case Op(">" | "<" as symbol, Col(left), Col(right)):
            above, below = (left, right) if symbol == ">" else (right, left)
            return (above, below) == ((other, column) if rising else (column, other))
    return False


def _check_negation(cte: Cte, step: SelectQuery, bound: BoundSelect) -> None:
    """Refuse NOT EXISTS that cannot be decided before the recursive view is joined."""
    for found in bound.origin.exists:
        inner = {c.name for source in found.inner.sources for c in source.columns}
        reads = {left for left, _ in found.on}.union(*map(columns_in, found.residual)) - inner
        touched = [s for s in bound.origin.sources if reads & {c.name for c in s.columns}]
        alone = len(touched) <= 1 and not any(isinstance(s, RecursionSource) for s in touched)
        if found.negated and not alone:
            raise Unsupported(
                f"NOT EXISTS in the step of {cte.name} may read one source, and not {cte.name}",
                position=step.where.at if step.where is not None else step.at,
                found="NOT EXISTS",
                attempt="put it into a CTE or view that the step joins with",
            )


def _cost_column(source: RecursionSource, best: Best) -> str:
    return f"{source.alias}.{best.column}"


def _check_best(expr: Expr, column: str, best: Best, at: Position) -> None:
    rising = best.function is AggregateFunction.MIN
    if column not in columns_in(expr) or moves(expr, column, rising=rising):
        return
    words = ("grow", "w.cost + e.length") if rising else ("shrink", "LEAST(w.width, e.width)")
    raise NotMonotone(
        f"{best.function.value}({best.column}) inside recursion must not"
        f" {'shrink' if rising else 'grow'} from step to step, or a circle would never end",
        position=at,
        found=best.column,
        exists=(f"{words[1]}: it can only {words[0]}",),
        attempt="add a column or a non-negative number, or use GREATEST"
        if rising
        else "subtract a column or a non-negative number, or use LEAST",
    )


def _check_conditions(step: SelectQuery, bound: BoundSelect, cost: str, best: Best) -> None:
    allowed = _UP if best.function is AggregateFunction.MIN else _DOWN
    conditions = [
        *bound.origin.predicates,
        *(part for found in bound.origin.exists for part in found.residual),
    ]
    matched = any(cost == left for found in bound.origin.exists for left, _ in found.on)
    wrong = any(cost in columns_in(e) and _side(e, cost) not in allowed for e in conditions)
    if matched or wrong:
        raise NotMonotone(
            f"a condition on {best.column} could be true of a worse row and false of the better",
            position=step.where.at if step.where is not None else step.at,
            found=best.column,
            exists=[f"{best.column} {symbol} …" for symbol in allowed],
            attempt="put the condition into the query that reads the recursive one",
        )


def _check_bound(cte: Cte, bound: BoundSelect, expr: Expr, column: str, at: Position) -> None:
    for rising, symbols in ((True, _UP), (False, _DOWN)):
        if not moves(expr, column, rising=rising):
            continue
        for predicate in bound.origin.predicates:
            if _side(predicate, column) in symbols and columns_in(predicate) == {column}:
                return
    name = column.rpartition(".")[2]
    raise UnboundedRecursion(
        f"the step of {cte.name} may compute new values of {name!r} for ever",
        position=at,
        found=name,
        exists=(f"WHERE {column} < 10", f"MIN(…) with GROUP BY for {name}"),
        attempt=f"bound it in the step: WHERE {column} < 10",
    )


def _side(expr: Expr, column: str) -> str:
    """Give how an expression bounds a column: `<` from above, `>` from below, empty if neither.

    The column stands on one side, by itself or in what never falls while it rises (`w.cost + 1`).
    """
    match expr:
        case Op(symbol, left, right) if column not in columns_in(right) and _follows(left, column):
            return symbol
        case Op(symbol, left, right) if column not in columns_in(left) and _follows(right, column):
            return _FLIPPED.get(symbol, symbol)
    return ""


def _follows(expr: Expr, column: str) -> bool:
    return any(moves(expr, column, rising=rising) for rising in (True, False))


def moves(expr: Expr, column: str, *, rising: bool) -> bool:
    """Whether an expression is never below (rising) or never above the column it reads.

    It also never falls while the column rises: a better cost never gives a worse one.

    Columns other than `column` are taken to be non-negative, as lengths and costs are.
    """
    match expr:
        case Col(name):
            return name == column
        case Op("+", left, right) if rising:
            return (moves(left, column, rising=True) and _non_negative(right, column)) or (
                moves(right, column, rising=True) and _non_negative(left, column)
            )
        case Op("-", left, right) if not rising:
            return moves(left, column, rising=False) and _non_negative(right, column)
        case Call("greatest", arguments) if rising:
            return any(moves(argument, column, rising=True) for argument in arguments)
        case Call("least", arguments) if not rising:
            return any(moves(argument, column, rising=False) for argument in arguments)
        case Call("to_float", (inner,)):
            return moves(inner, column, rising=rising)
        case Case(branches, otherwise):
            results = [*(then for _, then in branches), otherwise]
            jumps = any(column in columns_in(when) for when, _ in branches)
            return not jumps and all(moves(result, column, rising=rising) for result in results)
        case _:
            return False


def _non_negative(expr: Expr, column: str) -> bool:
    if column in columns_in(expr):
        return False
    match expr:
        case Col():
            return True
        case Const(value):
            return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
        case Op("+" | "*" | "/", left, right):
            return _non_negative(left, column) and _non_negative(right, column)
        case Call("abs" | "distance" | "sqrt"):
            return True
        case Call("to_float" | "to_int" | "round" | "ceil" | "floor" | "greatest" | "coalesce"):
            return all(_non_negative(part, column) for part in parts(expr))
        case Case(branches, otherwise):
            results = [*(then for _, then in branches), otherwise]
            return all(_non_negative(result, column) for result in results)
        case _:
            return False
