"""What the rules of Apply share: what a plan reads of the rows around it, and its domain.

The distinct values of the columns a sub-query reads form its *domain*. The sub-query is computed
for all of the domain at once, each row carrying the values it belongs to, and joined back.

Source: Neumann, Kemper, Unnesting Arbitrary Queries (BTW 2015).
"""

from __future__ import annotations

from itertools import count

from aspen.algebra.expr import (
    Call,
    Case,
    Col,
    Const,
    Expr,
    IsNull,
    Op,
    Outer,
    as_own,
    columns_in,
    conjunction,
    conjuncts,
    outer_in,
    substitute,
)
from aspen.algebra.plan import (
    AntiJoin,
    Apply,
    ApplyKind,
    Distinct,
    Filter,
    GroupBy,
    Join,
    MarkJoin,
    OuterJoin,
    Plan,
    Project,
    children,
)
from aspen.algebra.renaming import as_they_are, extended, filtered
from aspen.model.schema import Column, Type

Names = frozenset[str]
Pairs = tuple[tuple[str, str], ...]

_KEY = "__key"


def outer_names(plan: Plan) -> Names:
    """Returns the columns a plan reads of the rows around it.

    Law: empty iff the plan means something by itself.
    """
    match plan:
        case Apply(left, right):
            return outer_names(left) | (outer_names(right) - left.names)
        case Filter(child, predicate):
            return outer_names(child) | outer_in(predicate)
        case Project(child, outputs):
            return outer_names(child).union(*(outer_in(expr) for _, expr in outputs))
        case Join() | AntiJoin() | OuterJoin() | MarkJoin():
            sides = outer_names(plan.left) | outer_names(plan.right)
            return sides | outer_in(plan.residual)
        case _:
            return frozenset[str]().union(*map(outer_names, children(plan)))


def partners(right: Plan, around: Names) -> tuple[Plan, list[Expr]]:
    """Takes the conditions that read the rows around out of a plan of which only existence counts.

    Args:
        around: names of the columns of the rows around.

    Returns:
        A plan, and conditions over its columns and the rows around.

    Law: for each row around, the plan has rows that pass the conditions iff `right` has rows.
    """
    plan, conditions = right, list[Expr]()
    computed: dict[str, tuple[Column, Expr]] = {}
    while True:
        match plan:
            case Filter(child, predicate):
                conditions = [*conjuncts(predicate), *conditions]
            case Distinct(child):
                pass
            case Project(child, outputs):
                below = child.names
                read = frozenset[str]().union(
                    *map(columns_in, conditions), *(columns_in(e) for _, e in computed.values())
                )
                made = {
                    column.name: (column, expr)
                    for column, expr in outputs
                    if column.name in read and not isinstance(expr, Col) and not outer_in(expr)
                }
                if below & (around | made.keys() | computed.keys()):
                    break
                every = {column.name: expr for column, expr in outputs}
                inline = {name: expr for name, expr in every.items() if name not in made}
                conditions = [substitute(part, inline) for part in conditions]
                computed = {
                    name: (column, substitute(expr, every))
                    for name, (column, expr) in computed.items()
                } | made
            case _:
                break
        plan = child
    whole = extended(plan, computed.values())
    across = [part for part in conditions if outer_in(part) & around]
    return filtered(whole, (part for part in conditions if part not in across)), across


def matching(left: Plan, right: Plan, across: list[Expr]) -> tuple[Pairs, Expr | None]:
    """Parts conditions over both sides into pairs of equal columns and the rest."""
    lefts, rights = left.names, right.names
    on: dict[tuple[str, str], None] = {}
    rest: list[Expr] = []
    for part in across:
        match part:
            case Op("=", Outer(one), Col(other)) | Op("=", Col(other), Outer(one)) if (
                one in lefts and other in rights
            ):
                on[one, other] = None
            case _:
                rest.append(as_own(part, lefts))
    return tuple(on), conjunction(rest)


def domain_of(plan: Plan, names: Names) -> tuple[Plan, Distinct]:
    """Returns a plan, with a key beside each nullable column of some, and their domain.

    The domain is taken from a part of the plan that has the columns and all their values.
    """
    picked = [column for column in plan.columns if column.name in names]
    keys = [(_key(column), _spelt(column)) for column in picked if column.nullable]
    around = plan
    while isinstance(around, Apply) and names <= around.left.names:
        around = around.left
    outputs = as_they_are([*(key for key, _ in keys), *picked])
    return extended(plan, keys), Distinct(Project(extended(around, keys), outputs))


def keys_of(domain: Plan) -> tuple[str, ...]:
    """Returns the columns that identify a row of a domain; none of them is ever null.

    Empty where a plan is not known to be a domain.
    """
    if not isinstance(domain, Distinct):
        return ()
    names = domain.names
    nullable = [column.name for column in domain.columns if column.nullable]
    if any(f"{name}{_KEY}" not in names for name in nullable):
        return ()
    return tuple(
        f"{column.name}{_KEY}" if column.nullable else column.name
        for column in domain.columns
        if column.nullable or not column.name.endswith(_KEY)
    )


def apart(plan: Plan, domain: Plan, beside: Names) -> tuple[Plan, Pairs]:
    """Renames the domain's keys in a plan that begins with the domain's columns; drops the others.

    Args:
        beside: names that are taken where the plan will stand.

    Returns:
        The plan, and pairs of (the domain's key, the renamed one).
    """
    taken = beside | plan.names
    numbers = count(1)
    prefix = next(p for p in (f"domain_{n}" for n in numbers) if f"{p}.c0" not in taken)
    pairs = tuple((name, f"{prefix}.c{i}") for i, name in enumerate(keys_of(domain)))
    new = dict(pairs)
    own = domain.names
    outputs: list[tuple[Column, Expr]] = []
    for column in plan.columns:
        if column.name in new:
            renamed = Column(new[column.name], column.type, column.unit, column.nullable)
            outputs.append((renamed, Col(column.name)))
        elif column.name not in own:
            outputs.append((column, Col(column.name)))
    return Project(plan, tuple(outputs)), pairs


def is_one_row(plan: Plan) -> bool:
    """Whether a plan surely has exactly one row for every row around it."""
    match plan:
        case GroupBy(_, keys):
            return not keys
        case Project(child):
            return is_one_row(child)
        case Apply(left, _, ApplyKind.MARK | ApplyKind.VALUE):
            return is_one_row(left)
        case _:
            return False


def _key(column: Column) -> Column:
    return Column(f"{column.name}{_KEY}", Type.TEXT)


def _spelt(column: Column) -> Expr:
    """Writes the expression that spells a column's value, its null included, as one text."""
    # Adding 0.0 gives -0.0 and 0.0, which are equal, one spelling.
    own = Col(column.name)
    value = Op("+", own, Const(0.0)) if column.type is Type.FLOAT else own
    spelt = Call("concat", (Const("="), Call("to_text", (value,))))
    return Case(((IsNull(own), Const("")),), spelt)
