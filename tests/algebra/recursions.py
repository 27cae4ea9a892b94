"""Random recursions over a few edges: linear both ways, joined with themselves, several at once."""

from __future__ import annotations

from hypothesis import strategies as st

from aspen.algebra.expr import Call, Col, Const, Expr, Op
from aspen.algebra.plan import (
    AggregateFunction,
    AntiJoin,
    Best,
    Filter,
    Fixpoint,
    Join,
    Plan,
    Project,
    Recursive,
    RecursiveRef,
    Scan,
    Union,
)
from aspen.model.delta import Delta
from aspen.model.schema import Column, Type

EDGE = ("src", "dst", "len")
TABLES = {
    "edge": tuple(Column(name, Type.INT) for name in EDGE),
    "mark": (Column("node", Type.INT), Column("kind", Type.INT)),
    "ask": (Column("node", Type.INT), Column("who", Type.INT)),
}
_NODES = st.integers(0, 4)


@st.composite
def tables(draw) -> dict[str, Delta]:
    """A few edges between five places, some marked, some asked for."""
    return {
        "edge": draw(
            st.dictionaries(st.tuples(_NODES, _NODES, st.integers(0, 3)), ONE, max_size=8)
        ),
        "mark": draw(st.dictionaries(st.tuples(_NODES, st.integers(0, 2)), ONE, max_size=4)),
        "ask": draw(st.dictionaries(st.tuples(_NODES, st.integers(0, 2)), ONE, max_size=3)),
    }


ONE = st.just(1)


def scan(relation: str, alias: str) -> Scan:
    """Scan one of the tables."""
    columns = tuple(Column(f"{alias}.{c.name}", c.type) for c in TABLES[relation])
    return Scan(relation, alias, columns, relation != "edge")


def columns_of(name: str, *, cost: bool) -> tuple[Column, ...]:
    """Returns the columns of a recursion."""
    names = ("x", "z", "c") if cost else ("x", "z")
    return tuple(Column(f"{name}.{one}", Type.INT) for one in names)


def ref(name: str, alias: str, *, cost: bool) -> RecursiveRef:
    """Read a recursion in a step."""
    return RecursiveRef(name, alias, columns_of(alias, cost=cost))


def project(child: Plan, columns: tuple[Column, ...], *values: str | object) -> Project:
    """Project onto columns by name or value."""
    made = [Col(value) if isinstance(value, str) else value for value in values]
    return Project(child, tuple(zip(columns, made, strict=True)))


@st.composite
def bases(draw, name: str, *, cost: bool) -> Plan:
    """The edges themselves, some of them, or marked places."""
    columns, length = columns_of(name, cost=cost), (Col("b.len"),) if cost else ()
    form = draw(st.sampled_from(["edges", "edges", "some", "marks"]))
    if form == "marks":
        zero = (Const(0),) if cost else ()
        return project(scan("mark", "b"), columns, "b.node", "b.node", *zero)
    edges: Plan = scan("edge", "b")
    if form == "some":
        edges = Filter(edges, Op(">", Col("b.len"), Const(1)))
    return project(edges, columns, "b.src", "b.dst", *length)


@st.composite
def steps(draw, name: str, other: str, *, cost: bool) -> Plan:
    """One rule: before an edge, behind one, doubled, to and fro, swapped, or between two."""
    columns = columns_of(name, cost=cost)
    form = draw(
        st.sampled_from(["right", "left", "doubled", "same", "swapped", "beside", "marked"])
    )
    one, edge = ref(other, "r", cost=cost), scan("edge", "e")

    def grown(*more: str) -> tuple[object, ...]:
        total = Col("r.c")
        for column in more:
            total = Op("+", total, Col(column))
        return (total,) if cost else ()

    match form:
        case "left":
            joined: Plan = Join(one, edge, (("r.z", "e.src"),))
            made = project(joined, columns, "r.x", "e.dst", *grown("e.len"))
        case "doubled":
            two = ref(name, "r2", cost=cost)
            joined = Join(one, two, (("r.z", "r2.x"),))
            made = project(joined, columns, "r.x", "r2.z", *grown(*(["r2.c"] if cost else [])))
        case "same":
            joined = Join(
                Join(edge, one, (("e.dst", "r.x"),)), scan("edge", "f"), (("r.z", "f.dst"),)
            )
            made = project(joined, columns, "e.src", "f.src", *grown("e.len"))
        case "swapped":
            made = project(one, columns, "r.z", "r.x", *grown())
        case "beside":
            joined = Join(
                Join(one, edge, (("r.x", "e.dst"),)), scan("mark", "m"), (("r.z", "m.node"),)
            )
            made = project(joined, columns, "e.src", "m.node", *grown("e.len"))
        case "marked":
            joined = AntiJoin(
                Join(edge, one, (("e.dst", "r.x"),)), scan("mark", "m"), (("e.src", "m.node"),)
            )
            made = project(joined, columns, "e.src", "r.z", *grown("e.len"))
        case _:
            joined = Join(edge, one, (("e.dst", "r.x"),), draw(st.none() | st.just(_TEST)))
            made = project(joined, columns, "e.src", "r.z", *grown("e.len"))
    return made


_TEST = Op("<", Col("e.len"), Const(3))


@st.composite
def recursions(draw, relations: int | None = None) -> Fixpoint:
    """One recursion, or two that read each other; sets or cheapest rows."""
    cost = draw(st.sampled_from([False, False, True]))
    two = draw(st.integers(0, 3)) == 0 if relations is None else relations == 2
    made: list[Recursive] = []
    for name in ("walk", "way") if two else ("walk",):
        columns = columns_of(name, cost=cost)
        other = draw(st.sampled_from(["walk", "way"] if two else ["walk"]))
        step: Plan = draw(steps(name, other, cost=cost))
        if draw(st.integers(0, 2)) == 0:
            step = Union((step, draw(steps(name, name, cost=cost))))
        keys = tuple(column.name for column in columns[:2])
        best = Best(keys, columns[2].name, AggregateFunction.MIN) if cost else None
        made.append(Recursive(name, columns, draw(bases(name, cost=cost)), step, best))
    own = made[0]
    return Fixpoint(own.name, own.columns, own.base, own.step, own.best, tuple(made[1:]))


@st.composite
def closures(draw) -> Fixpoint:
    """The closure of the edges, or of some, one way or the other; perhaps of so many edges."""
    kind = draw(st.sampled_from(["set", "cheapest", "counted", "fewest"]))
    cost, left, bounded = kind != "set", draw(st.booleans()), kind in ("counted", "fewest")
    columns = columns_of("walk", cost=cost)
    edges: list[Plan] = [scan("edge", name) for name in ("b", "e")]
    if draw(st.booleans()):
        edges = [
            Filter(plan, Op("<", Col(f"{name}.len"), Const(3)))
            for plan, name in zip(edges, ("b", "e"), strict=True)
        ]
    one: Plan = ref("walk", "r", cost=cost)
    begun: Expr = Const(1) if bounded else Col("b.len")
    length: Expr = Const(1) if bounded else Col("e.len")
    grown: Expr = Op("+", Col("r.c"), length)
    if not bounded and draw(st.booleans()):
        grown = Call("greatest", (length, Col("r.c")))
    if bounded:
        one = Filter(one, Op("<", Col("r.c"), Const(draw(st.integers(1, 4)))))
    more = (grown,) if cost else ()
    base = project(edges[0], columns, "b.src", "b.dst", *((begun,) if cost else ()))
    if left:
        step = project(Join(one, edges[1], (("r.z", "e.src"),)), columns, "r.x", "e.dst", *more)
    else:
        step = project(Join(edges[1], one, (("e.dst", "r.x"),)), columns, "e.src", "r.z", *more)
    chosen = kind in ("cheapest", "fewest")
    keys = tuple(column.name for column in columns[:2])
    best = Best(keys, columns[2].name, AggregateFunction.MIN) if chosen else None
    return Fixpoint("walk", columns, base, step, best)


@st.composite
def squares(draw) -> Fixpoint:
    """Chains of edges from two halves that meet; of one colour, cheapest, of which the greatest."""
    kind = draw(st.sampled_from(["set", "coloured", "cheapest", "greatest", "tested"]))
    cost, coloured = kind != "set", kind == "coloured"
    columns = columns_of("walk", cost=cost)
    base = project(scan("edge", "b"), columns, "b.src", "b.dst", *(["b.len"] if cost else []))
    if draw(st.booleans()):
        base = Filter(base, Op("<>", Col("walk.x"), Const(draw(st.integers(0, 4)))))
    one, other = ref("walk", "r", cost=cost), ref("walk", "r2", cost=cost)
    if draw(st.booleans()):
        one, other = other, one
    same = (("r.c", "r2.c"),) if coloured else ()
    pairs = [("r.z", "r2.x"), *same]
    if one.alias == "r2":
        pairs = [(right, left) for left, right in pairs]
    joined: Plan = Join(one, other, tuple(pairs))
    if kind == "tested":  # which is no composition
        joined = Filter(joined, Op("<>", Col("r.x"), Col("r2.z")))
    total: Expr = Op("+", Col("r.c"), Col("r2.c"))
    if kind == "greatest":
        total = Call(draw(st.sampled_from(["greatest", "least"])), (Col("r2.c"), Col("r.c")))
    more = (Col(draw(st.sampled_from(["r.c", "r2.c"]))) if coloured else total,) if cost else ()
    step: Plan = project(joined, columns, "r.x", "r2.z", *more)
    if draw(st.integers(0, 3)) == 0:
        flat = project(scan("edge", "f"), columns, "f.dst", "f.src", *(["f.len"] if cost else []))
        step = Union((flat, step))
    chosen = kind in ("cheapest", "tested")
    keys = tuple(column.name for column in columns[:2])
    best = Best(keys, columns[2].name, AggregateFunction.MIN) if chosen else None
    return Fixpoint("walk", columns, base, step, best)
