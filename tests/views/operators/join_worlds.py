"""Random joins over a few small relations, kept by either way of making them."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from aspen.algebra.expr import Col, Const, Op
from aspen.algebra.plan import Filter, Join, Plan, Scan
from aspen.model.delta import Delta
from aspen.model.schema import Column, Relation, Row, Type
from aspen.views.circuit import Circuit
from aspen.views.compile import Compiler
from aspen.views.node import Node

EDGE = Relation("edge", (Column("src", Type.INT), Column("dst", Type.INT)))
MAYBE = Relation("maybe", (Column("k", Type.INT, nullable=True), Column("v", Type.INT)))
REAL = Relation("real", (Column("f", Type.FLOAT), Column("k", Type.INT)))
THREE = Relation("three", tuple(Column(name, Type.INT) for name in "xyz"))
LONE = Relation("lone", (Column("n", Type.INT),))
RELATIONS = {one.name: one for one in (EDGE, MAYBE, REAL, THREE, LONE)}

Tables = dict[str, Delta]
Move = tuple[str, Row, int]

_small = st.integers(0, 2)
_rows: dict[str, st.SearchStrategy[Row]] = {
    "edge": st.tuples(_small, _small),
    "maybe": st.tuples(st.none() | _small, _small),
    "real": st.tuples(st.sampled_from([0.0, 1.0, 1, 0.5]), _small),
    "three": st.tuples(_small, _small, _small),
    "lone": st.tuples(_small),
}


def tables() -> st.SearchStrategy[Tables]:
    """Returns what the relations hold; a row may be there twice."""
    return st.fixed_dictionaries(
        {
            name: st.dictionaries(row, st.integers(1, 2), min_size=1, max_size=7)
            for name, row in _rows.items()
        }
    )


@st.composite
def joins(draw: st.DrawFn) -> Join:
    """Returns joins of three to five inputs, each tied to those before by one or two columns."""
    plan: Plan = _input(draw, 0)
    for number in range(1, draw(st.integers(3, 5))):
        right = _input(draw, number)
        lefts, rights = sorted(plan.names), sorted(right.names)
        pair = st.tuples(st.sampled_from(lefts), st.sampled_from(rights))
        on = tuple(dict.fromkeys(draw(st.lists(pair, min_size=1, max_size=3))))
        residual = None
        if draw(st.integers(0, 3)) == 0:
            one, other = (draw(st.sampled_from(lefts + rights)) for _ in range(2))
            residual = Op(draw(st.sampled_from(["<", "<>", "<="])), Col(one), Col(other))
        plan = Join(plan, right, on, residual)
    assert isinstance(plan, Join)
    return plan


def _input(draw: st.DrawFn, number: int) -> Plan:
    # Mostly edges: a relation joined with itself changes in several inputs at once.
    relation = RELATIONS[draw(st.sampled_from(["edge"] * 4 + sorted(RELATIONS)))]
    alias = f"i{number}"
    columns = tuple(replace(one, name=f"{alias}.{one.name}") for one in relation.columns)
    scan = Scan(relation.name, alias, columns)
    if draw(st.integers(0, 5)) == 0:
        first = Col(columns[-1].name)
        return Filter(scan, Op("<>", first, Const(draw(_small))))
    return scan


class Kept:
    """A plan that a circuit of its own keeps.

    Args:
        how: its joins are made; None: in pairs.
        held: the rows that are there before.
    """

    def __init__(self, plan: Plan, how: str | None, held: Tables | None = None) -> None:
        self.circuit = Circuit()
        self.tables = {name: self.circuit.source(one) for name, one in RELATIONS.items()}
        if held:
            self.change(moves({name: {} for name in held}, held))
        compiler = Compiler(self.circuit, RELATIONS, lambda *_: None, joins=lambda _: how)
        self.node: Node = compiler.build(plan)
        self.node.users += 1
        self.rows = dict(self.node.contents())

    def change(self, changes: list[Move]) -> None:
        """Run one epoch; `rows` adds up what it gives."""
        for relation, row, weight in changes:
            assert self.circuit.change(self.tables[relation], row, weight)
        moved = self.circuit.step()
        if hasattr(self, "node"):
            for row, weight in self.node.delta.items():
                self.rows[row] = self.rows.get(row, 0) + weight
                if not self.rows[row]:
                    del self.rows[row]
        self.circuit.settle(moved)

    @property
    def indexed(self) -> int:
        """How many entries all indexes have."""
        nodes = [*self.tables.values(), *self.circuit._known.values()]
        indexes = [one.index for node in nodes for one in node.arrangements.values()]
        return sum(len(bucket) for index in indexes for bucket in index.values())


def moves(now: Tables, wanted: Tables) -> list[Move]:
    """Returns what leads from some tables to others."""
    return [
        (name, row, wanted[name].get(row, 0) - now[name].get(row, 0))
        for name in now
        for row in {**now[name], **wanted[name]}
        if wanted[name].get(row, 0) != now[name].get(row, 0)
    ]


def spelt(rows: Delta) -> list[str]:
    """Returns rows in an order, 1 apart from 1.0."""
    return sorted(f"{row!r} {weight}" for row, weight in rows.items())
