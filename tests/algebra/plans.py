"""Random plans, random data for them, and what their windows hold."""

from __future__ import annotations

from dataclasses import dataclass

from algebra.grouped_plans import VALUES, groups, overs, tops
from hypothesis import strategies as st

from aspen.algebra.expr import (
    Call,
    Case,
    Col,
    Const,
    Expr,
    IsNull,
    Not,
    Op,
    conjunction,
)
from aspen.algebra.plan import (
    AggregateFunction,
    AntiJoin,
    Best,
    Distinct,
    Filter,
    Fixpoint,
    GroupBy,
    Join,
    MarkJoin,
    OuterJoin,
    Plan,
    Project,
    RecursiveRef,
    Scan,
    SetFunction,
    SetOperation,
    Union,
    Values,
    Window,
    children,
)
from aspen.model.delta import Delta, accumulate
from aspen.model.schema import Column, Row, Type
from tests.oracle import evaluate

TABLES = {
    "t": (Column("a", Type.INT), Column("b", Type.INT, "", True), Column("c", Type.TEXT)),
    "u": (
        *(Column("a", Type.INT), Column("w", Type.FLOAT, "kg"), Column("ok", Type.BOOL, "", True)),
        Column("many", Type.INT_ARRAY, "", True),
    ),
    "edge": (Column("src", Type.INT), Column("dst", Type.INT), Column("len", Type.INT)),
}
STREAM = (Column("k", Type.TEXT), Column("v", Type.INT), Column("w", Type.FLOAT, "kg"))
NOW_S = 100.0


@dataclass(frozen=True)
class Data:
    """Rows of the tables, and the stream's rows in order of arrival with their times."""

    tables: dict[str, Delta]
    arrivals: tuple[tuple[Row, float], ...]

    def evaluate(self, plan: Plan) -> Delta:
        """Ask the oracle, telling it what every window holds."""
        windows = {node: self._held(node) for node in nodes(plan) if isinstance(node, Window)}
        return evaluate(plan, self.tables, windows)

    def _held(self, window: Window) -> Delta:
        names = [column.name for column in window.columns]
        places = [names.index(name) for name in window.partition_by]
        partitions: dict[Row, list[tuple[Row, float]]] = {}
        for row, at_s in self.arrivals:
            for shaped in evaluate(window.child, {"s": {row: 1}}):
                key = tuple(shaped[place] for place in places)
                partitions.setdefault(key, []).append((shaped, at_s))
        held: Delta = {}
        for found in partitions.values():
            newest = found if window.rows is None else found[-window.rows :]
            for row, at_s in newest:
                if window.range_s is None or at_s > NOW_S - window.range_s:
                    accumulate(held, row, 1)
        return held


def nodes(plan: Plan) -> list[Plan]:
    """Returns every node of a plan."""
    return [plan, *(node for child in children(plan) for node in nodes(child))]


def _row(columns: tuple[Column, ...]) -> st.SearchStrategy[Row]:
    values = [VALUES[c.type] | st.none() if c.nullable else VALUES[c.type] for c in columns]
    return st.tuples(*values)


@st.composite
def data(draw) -> Data:
    """Random rows; edges go up in number now and then, and in cycles."""
    tables = {
        name: draw(st.dictionaries(_row(columns), st.integers(1, 2), max_size=6))
        for name, columns in TABLES.items()
    }
    tables["edge"] = {(s, d, abs(length)): w for (s, d, length), w in tables["edge"].items()}
    arrivals = draw(st.lists(st.tuples(_row(STREAM), st.floats(0, 100)), max_size=8))
    return Data(tables, tuple(sorted(arrivals, key=lambda arrival: arrival[1])))


def _scan(name: str, alias: str, columns: tuple[Column, ...], *, stream: bool = False) -> Scan:
    named = tuple(Column(f"{alias}.{c.name}", c.type, c.unit, c.nullable) for c in columns)
    return Scan(name, alias, named, name != "edge", stream)


class Names:
    """Fresh aliases, so that no join meets a name twice."""

    def __init__(self) -> None:
        self.count = 0

    def fresh(self) -> str:
        self.count += 1
        return f"x{self.count}"


@st.composite
def exprs(draw, columns: tuple[Column, ...], kind: Type, depth: int = 2) -> Expr:
    """A random expression of one type over some columns."""
    own = [Col(column.name) for column in columns if column.type is kind]
    leaves = [VALUES[kind].map(Const), st.just(Const(None))]
    if own:
        leaves += [st.sampled_from(own)] * 3
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(st.one_of(leaves))
    if kind is Type.BOOL:
        return draw(_conditions(columns, depth - 1))
    if draw(st.integers(0, 4)) == 0:
        when = draw(exprs(columns, Type.BOOL, depth - 1))
        then = draw(exprs(columns, kind, depth - 1))
        return Case(((when, then),), draw(exprs(columns, kind, depth - 1)))
    left = draw(exprs(columns, kind, depth - 1))
    right = draw(exprs(columns, kind, depth - 1))
    if kind is Type.TEXT:
        return Call(draw(st.sampled_from(["coalesce", "concat", "least"])), (left, right))
    if kind.element is not None:
        called = draw(st.sampled_from(["coalesce", "least", "list_joined"]))
        return Call(called, (left, right))
    if kind.is_time:
        return Call(draw(st.sampled_from(["coalesce", "least"])), (left, right))
    symbols = ["+", "-", "*", "%"] if kind in (Type.INT, Type.DECIMAL) else ["+", "-", "*", "/"]
    return Op(draw(st.sampled_from(symbols)), left, right)


@st.composite
def _conditions(draw, columns: tuple[Column, ...], depth: int) -> Expr:
    form = draw(st.sampled_from(["compare", "compare", "and", "or", "not", "null"]))
    kind = draw(st.sampled_from(list(Type)))
    match form:
        case "compare":
            symbols = ["=", "<>"] if kind is Type.BOOL else ["=", "<>", "<", "<=", ">", ">="]
            left, right = draw(exprs(columns, kind, depth)), draw(exprs(columns, kind, depth))
            return Op(draw(st.sampled_from(symbols)), left, right)
        case "and" | "or":
            parts = [draw(exprs(columns, Type.BOOL, depth)) for _ in range(2)]
            return Op(form.upper(), *parts)
        case "not":
            return Not(draw(exprs(columns, Type.BOOL, depth)))
        case _:
            return IsNull(draw(exprs(columns, kind, depth)))


@st.composite
def predicates(draw, columns: tuple[Column, ...], keys: tuple[Column, ...] = ()) -> Expr:
    """Conjuncts that often read one column, or one key, alone, or equate two columns."""
    parts: list[Expr] = []
    for _ in range(draw(st.integers(1, 2))):
        if keys and draw(st.booleans()):
            key = draw(st.sampled_from(keys))
            parts.append(Op("<>", Col(key.name), draw(VALUES[key.type].map(Const))))
            continue
        some = draw(st.lists(st.sampled_from(columns), min_size=1, max_size=2))
        parts.append(draw(exprs(tuple(some), Type.BOOL, 1)))
    if len(columns) > 1 and draw(st.booleans()):
        one, other = draw(st.permutations(columns))[:2]
        if one.type is other.type:
            parts.append(Op("=", Col(one.name), Col(other.name)))
    joined = conjunction(parts)
    assert joined is not None
    return joined


@st.composite
def filters(draw, child: Plan) -> Filter:
    """A filter; over a group or a recursion it often reads keys."""
    keys: tuple[Column, ...] = ()
    if isinstance(child, GroupBy):
        keys = child.columns[: len(child.keys)]
    elif isinstance(child, Fixpoint):
        keys = child.columns[:2]
    return Filter(child, draw(predicates(child.columns, keys)))


@st.composite
def projections(draw, child: Plan, names: Names) -> Project:
    """Renamed and computed columns; sometimes exactly the child's."""
    if draw(st.integers(0, 4)) == 0:
        return Project(child, tuple((c, Col(c.name)) for c in child.columns))
    alias = names.fresh()
    outputs: list[tuple[Column, Expr]] = []
    for number in range(draw(st.integers(1, 3))):
        source = draw(st.sampled_from(child.columns))
        expr: Expr = Col(source.name)
        if draw(st.booleans()):
            expr = draw(exprs(child.columns, source.type, 1))
        outputs.append((Column(f"{alias}.p{number}", source.type, "", True), expr))
    return Project(child, tuple(outputs))


def renamed(plan: Plan, alias: str) -> Project:
    outputs = [
        (Column(f"{alias}.r{i}", c.type, c.unit, c.nullable), Col(c.name))
        for i, c in enumerate(plan.columns)
    ]
    return Project(plan, tuple(outputs))


@st.composite
def joins(draw, kind: type, left: Plan, right: Plan, names: Names) -> Plan:
    """A join or anti-join, with or without keys and residual."""
    right = renamed(right, names.fresh())
    pairs = [(a.name, b.name) for a in left.columns for b in right.columns if a.type is b.type]
    on = tuple(draw(st.lists(st.sampled_from(pairs), max_size=2, unique=True))) if pairs else ()
    both = left.columns + right.columns
    residual = draw(st.none() | predicates(both, both))
    if kind is MarkJoin:
        return MarkJoin(left, right, on, residual, mark=Column(f"{names.fresh()}.mark", Type.BOOL))
    return kind(left, right, on, residual)


@st.composite
def values(draw, names: Names) -> Values:
    """A few written rows."""
    alias = names.fresh()
    columns = (Column(f"{alias}.a", Type.INT), Column(f"{alias}.c", Type.TEXT, "", True))
    rows = draw(st.lists(_row(columns), max_size=3))
    return Values(columns, tuple(tuple(map(Const, row)) for row in rows))


@st.composite
def windows(draw, names: Names) -> Plan:
    """A window over the stream, or over a selection of it."""
    child: Plan = _scan("s", names.fresh(), STREAM, stream=True)
    if draw(st.booleans()):
        child = draw(filters(child))
    by = (child.columns[0].name,) if draw(st.booleans()) else ()
    rows = draw(st.none() | st.integers(1, 2))
    least = st.sampled_from([10.0, 50.0])
    range_s = draw(least if rows is None else st.none() | least)
    return Window(child, by, rows=rows, range_s=range_s)


@st.composite
def fixpoints(draw, names: Names) -> Fixpoint:
    """Cheapest or bounded walks over the edges, from some start."""
    view, walk, edge = (names.fresh() for _ in range(3))
    columns = tuple(Column(f"{view}.{n}", Type.INT) for n in ("start", "node", "cost"))
    base_scan = _scan("t", names.fresh(), TABLES["t"])
    start = Col(base_scan.columns[0].name)
    base = Project(base_scan, tuple(zip(columns, (start, start, Const(0)), strict=True)))
    ref = RecursiveRef(
        view, walk, tuple(Column(f"{walk}.{n}", Type.INT) for n in ("start", "node", "cost"))
    )
    joined: Plan = Join(
        ref, _scan("edge", edge, TABLES["edge"]), ((f"{walk}.node", f"{edge}.src"),)
    )
    best = draw(st.booleans())
    if not best:
        joined = Filter(joined, Op("<", Col(f"{walk}.cost"), Const(3)))
    # The step may change the start, which filters must then not follow.
    start_out = draw(st.sampled_from([f"{walk}.start", f"{walk}.start", f"{edge}.src"]))
    grown = Op("+", Col(f"{walk}.cost"), Col(f"{edge}.len") if best else Const(1))
    step = Project(
        joined, tuple(zip(columns, (Col(start_out), Col(f"{edge}.dst"), grown), strict=True))
    )
    keys = (columns[0].name, columns[1].name)
    chosen = Best(keys, columns[2].name, AggregateFunction.MIN) if best else None
    return Fixpoint(view, columns, base, step, chosen)


@st.composite
def plans(draw, depth: int = 3, names: Names | None = None) -> Plan:
    """A random plan that the oracle can answer."""
    names = names or Names()
    if depth == 0:
        form = draw(st.sampled_from(["t", "u", "edge", "window", "fixpoint", "values"]))
        if form == "values":
            return draw(values(names))
        if form == "window":
            return draw(windows(names))
        if form == "fixpoint":
            return draw(fixpoints(names))
        return _scan(form, names.fresh(), TABLES[form])
    child = draw(plans(depth - 1, names))
    form = draw(
        st.sampled_from(
            [
                "filter",
                "filter",
                "project",
                "join",
                "anti",
                "union",
                "distinct",
                "group",
                "over",
                "outer",
                "mark",
                "top",
                "set",
            ]
        )
    )
    return draw(over(form, child, names, depth))


@st.composite
def over(draw, form: str, child: Plan, names: Names, depth: int = 1) -> Plan:
    """One more node over a plan."""
    match form:
        case "filter":
            return draw(filters(child))
        case "project":
            return draw(projections(child, names))
        case "join":
            return draw(joins(Join, child, draw(plans(min(depth - 1, 1), names)), names))
        case "anti":
            return draw(joins(AntiJoin, child, draw(plans(min(depth - 1, 1), names)), names))
        case "outer" | "mark":
            kind = OuterJoin if form == "outer" else MarkJoin
            return draw(joins(kind, child, draw(plans(min(depth - 1, 1), names)), names))
        case "union":
            branch: Plan = renamed(child, names.fresh())
            return Union((child, draw(filters(branch))))
        case "distinct":
            return Distinct(child)
        case "group":
            return draw(groups(child, names))
        case "over":
            return draw(overs(child, names))
        case "top":
            return draw(tops(child))
        case "set":
            other: Plan = draw(filters(renamed(child, names.fresh())))
            sides = (child, other) if draw(st.booleans()) else (other, child)
            function = draw(st.sampled_from(SetFunction))
            return SetOperation(*sides, function, draw(st.booleans()))
        case _:
            return child
