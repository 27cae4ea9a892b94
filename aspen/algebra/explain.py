"""Plan → text: one node per line, inputs indented below it; `aspen.algebra.read` reads it back.

    Project mid TEXT = m.mid
      Join on m.mid = s.mid where s.weight_kg < 5.0
        Scan machine as m (m.mid TEXT, m.rid TEXT)
        Window by s.mid rows 1 range 120.0
          Scan seat_reading as s (s.mid TEXT, s.weight_kg FLOAT[kg]) stream

Law: `read_plan(plan_text(p)) == p`.
"""

from __future__ import annotations

from collections.abc import Iterable

from aspen.algebra.expr import Call, Case, Col, Const, Expr, IsNull, Not, Op, Outer
from aspen.algebra.plan import (
    Aggregate,
    AntiJoin,
    Apply,
    Distinct,
    Filter,
    Fixpoint,
    GroupBy,
    Join,
    MarkJoin,
    OuterJoin,
    Plan,
    Project,
    Recursive,
    RecursiveRef,
    Scan,
    SetOperation,
    Ship,
    SortKey,
    TopK,
    Union,
    Values,
    Window,
    children,
)
from aspen.algebra.text import PRECEDENCE, column_text, name_text, value_text
from aspen.model.schema import Column


def plan_text(plan: Plan) -> str:
    """Print a plan; ends with a line break.

    Law: `read_plan(plan_text(p)) == p`.
    """
    lines: list[str] = []
    stack: list[tuple[int, Plan]] = [(0, plan)]
    while stack:
        depth, node = stack.pop()
        lines.append("  " * depth + node_text(node))
        stack.extend((depth + 1, child) for child in reversed(children(node)))
    return "\n".join(lines) + "\n"


def expr_text(expr: Expr) -> str:
    """Print an expression with the parentheses its tree needs."""
    match expr:
        case Col(name):
            return name_text(name)
        case Outer(name):
            return f"^{name_text(name)}"
        case Const(value):
            return value_text(value)
        case Op(symbol, left, right):
            return f"{_operand(left, symbol, right=False)} {symbol} {_operand(right, symbol)}"
        case Not(inner):
            return f"NOT {_atom(inner)}"
        case IsNull(inner):
            return f"{_atom(inner)} IS NULL"
        case Call(function, arguments):
            return f"{name_text(function)}({', '.join(map(expr_text, arguments))})"
        case Case(branches, otherwise):
            whens = "".join(f"WHEN {expr_text(c)} THEN {expr_text(v)} " for c, v in branches)
            return f"CASE {whens}ELSE {expr_text(otherwise)} END"


def _atom(expr: Expr) -> str:
    text = expr_text(expr)
    return f"({text})" if isinstance(expr, Op | Not | IsNull) else text


def _operand(expr: Expr, symbol: str, *, right: bool = True) -> str:
    if not isinstance(expr, Op):
        bare = not isinstance(expr, Not) or symbol in ("AND", "OR")
        return expr_text(expr) if bare else _atom(expr)
    own, above = PRECEDENCE[expr.symbol], PRECEDENCE[symbol]
    chains = own == above and not right and above != PRECEDENCE["="]
    return expr_text(expr) if own > above or chains else f"({expr_text(expr)})"


def _names(names: Iterable[str]) -> str:
    return ", ".join(map(name_text, names))


def _columns(columns: Iterable[Column]) -> str:
    return f"({', '.join(map(column_text, columns))})"


def _aggregate(aggregate: Aggregate) -> str:
    argument = "*" if aggregate.argument is None else name_text(aggregate.argument)
    distinct = "DISTINCT " if aggregate.distinct else ""
    return f"{column_text(aggregate.output)} = {aggregate.function.value}({distinct}{argument})"


def _matching(node: Join | AntiJoin | OuterJoin | MarkJoin) -> str:
    pairs = ", ".join(f"{name_text(left)} = {name_text(right)}" for left, right in node.on)
    on = f" on {pairs}" if pairs else ""
    where = f" where {expr_text(node.residual)}" if node.residual is not None else ""
    mark = f" give {column_text(node.mark)}" if isinstance(node, MarkJoin) else ""
    return f"{type(node).__name__}{mark}{on}{where}"


def _window(node: Window) -> str:
    by = f" by {_names(node.partition_by)}" if node.partition_by else ""
    bounds = "".join(f" {word} {value_text(amount)}" for word, amount, _ in node.bounds.words)
    return f"Window{by}{bounds}"


def _fixpoint(node: Fixpoint) -> str:
    most = f" most {node.most}" if node.most is not None else ""
    return f"Fixpoint {' with '.join(map(_recursive, node.relations))}{most}"


def _recursive(relation: Recursive) -> str:
    keep = ""
    if relation.best is not None:
        chosen = (f"{how.value} {name_text(column)}" for column, how in relation.best.choices)
        by = f" by {_names(relation.best.keys)}" if relation.best.keys else ""
        keep = f" keep {', '.join(chosen)}{by}"
    return f"{name_text(relation.name)} {_columns(relation.columns)}{keep}"


def _values(node: Values) -> str:
    rows = (f"({', '.join(map(expr_text, row))})" for row in node.rows)
    demand = "demand " if node.demand else ""
    return " ".join([f"Values {demand}{_columns(node.columns)}", ", ".join(rows)]).rstrip()


def _sort_key(key: SortKey) -> str:
    down = " desc" if key.descending else ""
    return f"{name_text(key.column)}{down}{' nulls last' if key.nulls_last else ''}"


def _top_k(node: TopK) -> str:
    per = f" per {_names(node.partition_by)}" if node.partition_by else ""
    by = f" by {', '.join(map(_sort_key, node.keys))}" if node.keys else ""
    limit = f" limit {node.limit}" if node.limit is not None else ""
    offset = f" offset {node.offset}" if node.offset else ""
    return f"TopK{per}{by}{limit}{offset}"


def node_text(node: Plan) -> str:
    """Print one node without its inputs."""
    match node:
        case Values():
            return _values(node)
        case SetOperation(_, _, function, keeps):
            return f"{function.value}{' all' if keeps else ''}"
        case TopK():
            return _top_k(node)
        case Scan(relation, alias, columns):
            marks = f"{'' if node.deletable else ' static'}{' stream' if node.stream else ''}"
            return f"Scan {name_text(relation)} as {name_text(alias)} {_columns(columns)}{marks}"
        case RecursiveRef(name, alias, columns):
            return f"RecursiveRef {name_text(name)} as {name_text(alias)} {_columns(columns)}"
        case Window():
            return _window(node)
        case Filter(_, predicate):
            return f"Filter {expr_text(predicate)}"
        case Project(_, outputs):
            made = (f"{column_text(column)} = {expr_text(value)}" for column, value in outputs)
            return " ".join(["Project", ", ".join(made)]).rstrip()
        case Join() | AntiJoin() | OuterJoin() | MarkJoin():
            return _matching(node)
        case Apply(_, _, kind, output):
            return f"Apply {kind.value}{f' {column_text(output)}' if output is not None else ''}"
        case Union():
            return "Union"
        case Distinct():
            return "Distinct"
        case GroupBy(_, keys, aggregates):
            by = f" by {_names(keys)}" if keys else ""
            give = f" give {', '.join(map(_aggregate, aggregates))}" if aggregates else ""
            return f"GroupBy{by}{give}"
        case Fixpoint():
            return _fixpoint(node)
        case Ship(_, source, target):
            return f"Ship {name_text(source)} -> {name_text(target)}"
