"""Subnetwork: one lane's share of a recursion along edges, and what it must ship to other lanes.

    whole     walk = base ∪ π(walk ⋈ edge)
    lane k    inner = σ here (base) ∪ arrived ∪ σ here π(inner ⋈ edge)  its local fixpoint
              leaving = σ not here π(inner ⋈ edge)                      border rows, the best by key

A row belongs to the lane of the network (floor, building) its node lies in; a node of which no
network is known belongs to lane 0. Each row carries the
node at which it entered the lane, null where it began there: what a border row rests on is then
one other border row, or none, and a deletion can follow that chain over all lanes.

Costs are counted in steps of 1 / SCALE, one of which is added at each step: of equal costs the one
with fewer steps is the best, so that no two rows can rest on each other.

Law:    the union of all lanes' `rows` is the recursion, once every row that leaves has arrived.
Source: [LTZIL09] sections III to V for the shape; the entry nodes are own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from aspen.algebra.expr import Call, Case, Col, Const, Expr, Not, Op
from aspen.algebra.plan import (
    AggregateFunction,
    AntiJoin,
    Best,
    Filter,
    Fixpoint,
    Join,
    Plan,
    PlanError,
    Project,
    RecursiveRef,
    Scan,
    SortKey,
    TopK,
    Union,
    map_children,
    nodes,
)
from aspen.algebra.renaming import as_they_are, narrowed
from aspen.model.schema import Column, Relation, Type, Value

SCALE = 1 << 20
INNER, ARRIVED = "inner", "arrived"


class CannotSplit(PlanError, code="aspen.algebra.cannot_split"):
    """A recursion that does not go along edges from node to node."""


@dataclass(frozen=True, slots=True)
class Share:
    """One lane's plans.

    Args:
        arrived: the relation of border rows that came: sender, then `inner`'s columns but entry.
        inner: the local fixpoint.
        leaving: border rows, in the columns of `inner`, then the lane they go to; reads `inner`.
        rows: the recursion's rows that belong here; reads `inner`.
        keys: indices of the columns of `inner` that tell its rows apart.
        steady: those of them that a step never changes.
        cost: index of the scaled cost in `inner`; its last column is the entry.
        node: index of the column that says where a row is.
    """

    arrived: Relation
    inner: Plan
    leaving: Plan
    rows: Plan
    keys: tuple[int, ...]
    steady: tuple[int, ...]
    cost: int
    node: int


@dataclass(frozen=True, slots=True)
class NetworkSplit:
    """How a recursion is split by networks.

    Args:
        column: of the recursion: where a row is.
        networks: a relation whose key is a node, with the network it lies in.
        lanes: how many there are.
        dealt: networks that are cut into one run for each lane, so that those of neighbouring names
            are in one; others fall where their hash says.
        arrived: name of the relation of border rows that came.
    """

    column: str
    networks: Relation
    lanes: int
    dealt: tuple[Value, ...] = ()
    arrived: str = ARRIVED


def share_of(plan: Fixpoint, split: NetworkSplit, lane: int) -> Share:
    """Returns one lane's share of a recursion.

    Raises:
        CannotSplit: it has several relations or choices, or its cost does not simply grow.
    """
    return _Sharing(plan, split, lane).share()


def node_column(plan: Fixpoint) -> str:
    """Returns the one column that a step changes, of those that tell rows apart: where a row is.

    Raises:
        CannotSplit: it is no recursion along edges.
    """
    step = plan.step
    if plan.others or not isinstance(step, Project):
        raise CannotSplit("a step is a projection of one join with the recursion")
    old = _ref(step, plan.name)
    keys = plan.best.keys if plan.best is not None else [one.name for one in plan.columns]
    moving = [
        column.name
        for column, before, (_, value) in zip(plan.columns, old.columns, step.outputs, strict=True)
        if column.name in keys and value != Col(before.name)
    ]
    if len(moving) != 1:
        raise CannotSplit("a step changes one column: where a row is", found=", ".join(moving))
    return moving[0]


class _Sharing:
    def __init__(self, plan: Fixpoint, split: NetworkSplit, lane: int) -> None:
        best, column = plan.best, split.column
        if plan.others or plan.most is not None or (best is not None and best.more):
            raise CannotSplit("only one relation with one choice is split by networks")
        self._plan, self._split, self._lane = plan, split, lane
        names = [one.name for one in plan.columns]
        self._node = names.index(column)
        keys = names if best is None else [*best.keys]
        if column not in keys or (best is not None and best.function is not AggregateFunction.MIN):
            raise CannotSplit("rows are told apart by where they are, and the least cost counts")
        columns = [
            Column(f"i.c{n}", one.type, one.unit, one.nullable)
            for n, one in enumerate(plan.columns)
        ]
        if best is None:
            self._cost = len(columns)
            columns.append(Column("i.steps", Type.INT))
        else:
            self._cost = names.index(best.column)
            if plan.columns[self._cost].type is not Type.INT:
                raise CannotSplit("costs are counted, so they must be INT")
        self._keys = tuple(names.index(key) for key in keys)
        entry = Column("i.entry", columns[self._node].type, "", nullable=True)
        self._columns = (*columns, entry)

    def share(self) -> Share:
        best = Best(
            tuple(self._columns[key].name for key in self._keys),
            self._columns[self._cost].name,
            AggregateFunction.MIN,
        )
        base = Union((self._here(self._base()), self._came()))
        ref = RecursiveRef(INNER, "r", self._aliased("r"))
        inner = Fixpoint(INNER, self._columns, base, self._here(self._step(ref)), best)
        scan = Scan(INNER, "r", self._aliased("r"))
        plain = self._columns[: len(self._plan.columns)]
        outputs = [
            (old, self._unscaled(new)) for old, new in zip(self._plan.columns, plain, strict=True)
        ]
        rows = Project(Scan(INNER, "i", self._columns), tuple(outputs))
        return Share(
            self._arrived(),
            inner,
            self._leaving(scan),
            rows,
            self._keys,
            self._steady(),
            self._cost,
            self._node,
        )

    def _steady(self) -> tuple[int, ...]:
        step = self._plan.step
        assert isinstance(step, Project)
        old = _ref(step, self._plan.name)
        return tuple(
            key for key in self._keys if step.outputs[key][1] == Col(old.columns[key].name)
        )

    def _aliased(self, alias: str) -> tuple[Column, ...]:
        return tuple(replace(c, name=f"{alias}.{c.name.split('.')[-1]}") for c in self._columns)

    def _arrived(self) -> Relation:
        own = tuple(replace(c, name=c.name.split(".")[-1]) for c in self._columns[:-1])
        return Relation(self._split.arrived, (Column("sender", Type.INT), *own))

    def _unscaled(self, column: Column) -> Expr:
        if self._plan.best is None or column.name != self._columns[self._cost].name:
            return Col(column.name)
        return Call("quotient", (Col(column.name), Const(SCALE)))

    def _base(self) -> Plan:
        """Returns the rows to begin with, scaled, with no entry."""
        values: list[Expr] = [Col(c.name) for c in self._plan.base.columns]
        if self._plan.best is None:
            values.append(Const(0))
        else:
            values[self._cost] = Op("*", values[self._cost], Const(SCALE))
        pairs = zip(self._columns, [*values, Const(None)], strict=True)
        return Project(self._plan.base, tuple(pairs))

    def _came(self) -> Plan:
        """Returns the border rows that came; each is its own entry."""
        arrived = self._arrived()
        columns = tuple(replace(c, name=f"a.{c.name}") for c in arrived.columns)
        names = [column.name for column in columns[1:]]
        values = [*map(Col, names), Col(names[self._node])]
        return Project(
            Scan(self._split.arrived, "a", columns), tuple(zip(self._columns, values, strict=True))
        )

    def _step(self, leaf: Plan) -> Plan:
        """Returns what one step from `leaf` gives, in its columns."""
        step = self._plan.step
        if not isinstance(step, Project):
            raise CannotSplit("a step is a projection of one join with the recursion")
        old = _ref(step, self._plan.name)
        alias = old.alias
        below = _with_leaf(step.child, self._plan.name, self._view_of(leaf, old))
        costs, entry = f"{alias}.scaled", f"{alias}.entry"
        if not {costs, entry} <= below.names:
            raise CannotSplit("a step must keep the row it goes on from until its last projection")
        values = [value for _, value in step.outputs]
        grown: Expr = Const(1)
        if self._plan.best is not None:
            grown = Op("+", Op("*", self._growth(values[self._cost], old), Const(SCALE)), Const(1))
        total = Op("+", Col(costs), grown)
        if self._plan.best is None:
            values.append(total)
        else:
            values[self._cost] = total
        return Project(below, tuple(zip(self._columns, [*values, Col(entry)], strict=True)))

    def _view_of(self, leaf: Plan, old: RecursiveRef) -> Plan:
        """Returns the local rows as the step knows them, with scaled cost and entry behind."""
        alias = old.alias
        outputs: list[tuple[Column, Expr]] = []
        for index, column in enumerate(old.columns):
            value: Expr = Col(leaf.columns[index].name)
            if self._plan.best is not None and index == self._cost:
                value = Call("quotient", (value, Const(SCALE)))
            outputs.append((column, value))
        scaled, entry = leaf.columns[self._cost], leaf.columns[-1]
        outputs.append((Column(f"{alias}.scaled", Type.INT), Col(scaled.name)))
        outputs.append((replace(entry, name=f"{alias}.entry"), Col(entry.name)))
        return Project(leaf, tuple(outputs))

    def _growth(self, value: Expr, old: RecursiveRef) -> Expr:
        """Returns what a step adds to the cost."""
        cost = Col(old.columns[self._cost].name)
        if isinstance(value, Op) and value.symbol == "+":
            if value.left == cost:
                return value.right
            if value.right == cost:
                return value.left
        raise CannotSplit("a cost must grow by what a step costs", found=repr(value))

    def _known(self, plan: Plan) -> tuple[Plan, Expr]:
        """Returns the rows whose node is known, the networks beside, and the lane of each row."""
        network, lanes = Col(f"n.{self._split.networks.network}"), self._split.lanes
        lane: Expr = Call("part", (network, Const(lanes)))
        if self._split.dealt:
            count = len(self._split.dealt)
            runs = [
                (Op("=", network, Const(one)), Const(n * lanes // count))
                for n, one in enumerate(self._split.dealt)
            ]
            lane = Case(tuple(runs), lane)
        return Join(plan, *self._networks_beside(plan)), lane

    def _unknown(self, plan: Plan) -> Plan:
        """Returns the rows whose node is in no network."""
        return AntiJoin(plan, *self._networks_beside(plan))

    def _networks_beside(self, plan: Plan) -> tuple[Scan, tuple[tuple[str, str]]]:
        known = self._split.networks
        columns = tuple(replace(c, name=f"n.{c.name}") for c in known.columns)
        scan = Scan(known.name, "n", columns, known.deletable)
        return scan, ((plan.columns[self._node].name, f"n.{known.key[0]}"),)

    def _here(self, plan: Plan) -> Plan:
        beside, lane = self._known(plan)
        mine: Plan = Filter(beside, Op("=", lane, Const(self._lane)))
        mine = narrowed(mine, plan.columns)
        return mine if self._lane else Union((mine, self._unknown(plan)))

    def _leaving(self, scan: Plan) -> Plan:
        step = self._step(scan)
        beside, lane = self._known(step)
        others = Filter(beside, Not(Op("=", lane, Const(self._lane))))
        outputs = as_they_are(step.columns)
        target = Column("i.lane", Type.INT)
        lost: Plan = Project(others, (*outputs, (target, lane)))
        if self._lane:
            nowhere = Project(self._unknown(step), (*outputs, (target, Const(0))))
            lost = Union((lost, nowhere))
        names = [column.name for column in lost.columns]
        order = tuple(SortKey(name) for name in (names[self._cost], names[-2]))
        return TopK(lost, order, 1, 0, tuple(names[key] for key in self._keys))


def _ref(plan: Plan, name: str) -> RecursiveRef:
    found = [node for node in nodes(plan) if isinstance(node, RecursiveRef) and node.name == name]
    if len(found) != 1:
        raise CannotSplit("only linear recursion is split by networks")
    return found[0]


def _with_leaf(plan: Plan, name: str, leaf: Plan) -> Plan:
    """Replace the recursion by a plan."""
    if isinstance(plan, RecursiveRef) and plan.name == name:
        return leaf
    return map_children(plan, lambda child: _with_leaf(child, name, leaf))
