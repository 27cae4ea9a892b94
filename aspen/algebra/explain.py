"""Plan ↔ text: one node per line, inputs indented below it; `aspen.algebra.read` reads it back.

    Project mid TEXT = m.mid
      Join on m.mid = s.mid where s.weight_kg < 5.0
        Scan machine as m (m.mid TEXT, m.rid TEXT)
        Window by s.mid rows 1 range 120.0
          Scan seat_reading as s (s.mid TEXT, s.weight_kg FLOAT[kg]) stream

`NODES` says of every kind of node which words its fields stand behind; both directions follow it.

Law: `read_plan(plan_text(p)) == p`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from aspen.algebra.expr import Call, Case, Col, Const, Expr, IsNull, Not, Op, Outer
from aspen.algebra.forms import (
    COLUMN,
    COLUMNS,
    INT,
    NAME,
    NAMES,
    NUMBER,
    Form,
    NodeField,
    Record,
    enclosed,
    flag,
    listed,
    one_of,
    paired,
    record,
)
from aspen.algebra.over_text import SORT_KEY, aggregate_text, over_text, read_aggregate, read_over
from aspen.algebra.plan import (
    AggregateFunction,
    AntiJoin,
    Apply,
    ApplyKind,
    Best,
    Distinct,
    Filter,
    Fixpoint,
    GroupBy,
    Join,
    MarkJoin,
    OuterJoin,
    Over,
    Plan,
    Project,
    Recursive,
    RecursiveRef,
    Scan,
    SetFunction,
    SetOperation,
    Ship,
    TopK,
    Union,
    Values,
    Window,
    WindowBounds,
    children,
)
from aspen.algebra.read_expr import Words, read_expr
from aspen.algebra.text import PRECEDENCE, name_text, value_text


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


def node_text(node: Plan) -> str:
    """Print one node without its inputs."""
    kind = node.function.value if isinstance(node, SetOperation) else type(node).__name__
    return kind + NODES[kind].text(node)


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


class NodeForm(Record):
    """How a kind of node is written and made.

    Args:
        inputs: how many it has, which `make` is called with; None for any number.
    """

    def __init__(self, inputs: int | None, make: Callable[..., Plan], *fields: NodeField) -> None:
        super().__init__(make, fields)
        self.inputs = inputs


def _constant(words: Words) -> Const:
    value = read_expr(words)
    if not isinstance(value, Const):
        raise words.error("Values holds constants")
    return value


def _choice_text(choice: tuple[str, AggregateFunction]) -> str:
    column, function = choice
    return f"{function.value} {name_text(column)}"


def _choice(words: Words) -> tuple[str, AggregateFunction]:
    function = _FUNCTION.read(words)
    return words.name(), function


def _best(choices: tuple[tuple[str, AggregateFunction], ...], keys: tuple[str, ...]) -> Best:
    return Best(keys, *choices[0], choices[1:])


def _fixpoint(
    *inputs: Plan, relations: tuple[Callable[[Plan, Plan], Recursive], ...], most: int | None
) -> Fixpoint:
    own, *others = (
        make(base, step)
        for make, base, step in zip(relations, inputs[::2], inputs[1::2], strict=True)
    )
    return Fixpoint(own.name, own.columns, own.base, own.step, own.best, tuple(others), most)


_FUNCTION = one_of(AggregateFunction, "aggregate")
_EXPR = Form(expr_text, read_expr)
_OUTPUTS = listed(paired(COLUMN, "=", _EXPR))
_ROWS = listed(enclosed(Form(expr_text, _constant)))
_AGGREGATES = listed(Form(aggregate_text, read_aggregate))
_SORT_KEYS = listed(SORT_KEY)
_BEST = record(
    _best,
    NodeField("choices", listed(Form(_choice_text, _choice))),
    NodeField("keys", NAMES, "by", ()),
)
_RECURSIVE = record(
    lambda **own: lambda base, step: Recursive(base=base, step=step, **own),
    NodeField("name", NAME),
    NodeField("columns", COLUMNS),
    NodeField("best", _BEST, "keep", None),
)
_SOURCE = (NodeField("alias", NAME, "as"), NodeField("columns", COLUMNS))
_ON = NodeField("on", listed(paired(NAME, "=", NAME)), "on", ())
_WHERE = NodeField("residual", _EXPR, "where", None)
_BY = NodeField("partition_by", NAMES, "by", ())
_BOUNDS = (NodeField(name, NUMBER, name.removesuffix("_s"), None) for name in WindowBounds._fields)
_STATIC, _STREAM = flag("deletable", "static", absent=True), flag("stream", "stream")
_ALL = flag("keeps_duplicates", "all")

NODES: dict[str, NodeForm] = {
    "Scan": NodeForm(0, Scan, NodeField("relation", NAME), *_SOURCE, _STATIC, _STREAM),
    "Values": NodeForm(
        0,
        Values,
        flag("demand", "demand"),
        NodeField("columns", COLUMNS),
        NodeField("rows", _ROWS, absent=()),
    ),
    "RecursiveRef": NodeForm(0, RecursiveRef, NodeField("name", NAME), *_SOURCE),
    "Join": NodeForm(2, Join, _ON, _WHERE),
    "Apply": NodeForm(
        2,
        Apply,
        NodeField("kind", one_of(ApplyKind, "kind of Apply")),
        NodeField("output", COLUMN, absent=None),
    ),
    "AntiJoin": NodeForm(2, AntiJoin, _ON, _WHERE),
    "OuterJoin": NodeForm(2, OuterJoin, _ON, _WHERE),
    "MarkJoin": NodeForm(2, MarkJoin, NodeField("mark", COLUMN, "give"), _ON, _WHERE),
    "Except": NodeForm(2, partial(SetOperation, function=SetFunction.EXCEPT), _ALL),
    "Intersect": NodeForm(2, partial(SetOperation, function=SetFunction.INTERSECT), _ALL),
    "Window": NodeForm(1, Window, _BY, *_BOUNDS, NodeField("on", NAME, "on", None)),
    "Filter": NodeForm(1, Filter, NodeField("predicate", _EXPR)),
    "Project": NodeForm(1, Project, NodeField("outputs", _OUTPUTS, absent=())),
    "Distinct": NodeForm(1, Distinct),
    "TopK": NodeForm(
        1,
        TopK,
        NodeField("partition_by", NAMES, "per", ()),
        NodeField("keys", _SORT_KEYS, "by", ()),
        NodeField("limit", INT, "limit", None),
        NodeField("offset", INT, "offset", 0),
    ),
    "GroupBy": NodeForm(
        1,
        GroupBy,
        NodeField("keys", NAMES, "by", ()),
        NodeField("aggregates", _AGGREGATES, "give", ()),
    ),
    "Over": NodeForm(
        1,
        Over,
        NodeField("partition_by", NAMES, "per", ()),
        NodeField("keys", _SORT_KEYS, "by", ()),
        NodeField("functions", listed(Form(over_text, read_over)), "give"),
    ),
    "Ship": NodeForm(1, Ship, NodeField("source", NAME), NodeField("target", NAME, "->")),
    "Union": NodeForm(None, lambda *inputs: Union(inputs)),
    "Fixpoint": NodeForm(
        None,
        _fixpoint,
        NodeField("relations", listed(_RECURSIVE, "with")),
        NodeField("most", INT, "most", None),
    ),
}
"""By the word a node's line begins with."""
