"""Compile: a plan over base relations → nodes of a circuit, equal subplans shared.

A node's identity is what it computes by column indices, so that aliases do not keep equal
subplans apart.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass

from aspen.algebra.evaluate import compile_predicate, compile_row
from aspen.algebra.expr import Col, Const
from aspen.algebra.plan import (
    AntiJoin,
    Apply,
    Distinct,
    Filter,
    Fixpoint,
    GroupBy,
    Join,
    MarkJoin,
    NotFlat,
    OuterJoin,
    Over,
    Plan,
    Project,
    RecursiveRef,
    Scan,
    SetOperation,
    Ship,
    TopK,
    Union,
    Values,
    Window,
)
from aspen.errors import AspenError
from aspen.model.delta import delta_of
from aspen.model.schema import Relation, Row, SourceKind, Value
from aspen.views.circuit import Circuit
from aspen.views.compile_fixpoint import build_fixpoint
from aspen.views.compile_grouped import build_group
from aspen.views.compile_joins import build_joins
from aspen.views.compile_ordered import build_over, build_top_k, indices
from aspen.views.node import Indices, Node
from aspen.views.operators.anti_join import AntiJoinOperator
from aspen.views.operators.distinct import DistinctOperator
from aspen.views.operators.event_time_window import EventTimeWindow
from aspen.views.operators.filter import FilterOperator
from aspen.views.operators.hopping_rows_window import HoppingRowsWindow
from aspen.views.operators.pipelined_hash_join import PipelinedHashJoin
from aspen.views.operators.project import ProjectOperator
from aspen.views.operators.range_window import RangeWindow
from aspen.views.operators.rows_window import RowsWindow
from aspen.views.operators.semi_join import SemiJoin
from aspen.views.operators.session_window import SessionWindow
from aspen.views.operators.set_operation import SetOperationOperator
from aspen.views.operators.support.strategies import DEFAULT, Notify
from aspen.views.operators.union import UnionOperator
from aspen.views.operators.values import ValuesOperator
from aspen.views.operators.window import WindowOperator
from aspen.views.spelling import spelling

Shape = Callable[[Row], Row | None]
"""What a row becomes, None where it is left out."""


class CannotMaintain(AspenError, code="aspen.views.cannot_maintain"):
    """A plan that no circuit can keep current."""


class UnknownSource(AspenError, code="aspen.views.unknown_source"):
    """A plan that scans a relation nobody declared."""


@dataclass(frozen=True, slots=True)
class WindowIdentity:
    """What identifies a window over a stream.

    Args:
        identity: equal for equal windows, stable over restarts.
        plain: it sees whole stream rows, unfiltered.
        partition: indices of the partition columns in the rows it holds.
        slides: it moves at times of its own, not with every tick.
    """

    identity: str
    stream: str
    plain: bool
    partition: Indices
    rows: int | None
    slides: bool


class Compiler:
    """Builds plans into one circuit.

    Args:
        relations: the declared ones.
        begin: fills a window that nobody kept before.
        strategy: how a recursion is maintained; equal ones with equal strategies are shared.
        notify: called when a strategy gives up for another.
        given: nodes that stand for relations of the plan alone.
        apart: what keeps this plan's nodes from being shared, None where equal subplans are one.
        joins: how joins within a join are made; asked of the outermost. None: in pairs.
    """

    def __init__(
        self,
        circuit: Circuit,
        relations: Mapping[str, Relation],
        begin: Callable[[WindowIdentity, WindowOperator], None],
        strategy: Callable[[Fixpoint], str] = lambda _plan: DEFAULT,
        notify: Notify = lambda _error: None,
        given: Mapping[str, Node] | None = None,
        apart: Hashable | None = None,
        joins: Callable[[Join], str | None] = lambda _plan: None,
    ) -> None:
        self.circuit = circuit
        self.strategy = strategy
        self.notify = notify
        self.joins = joins
        self._given = given or {}
        self._apart = apart
        self._relations = relations
        self._begin = begin
        # Inlined views occur many times as the same object; plans live as long as the compiler.
        self._built: dict[int, tuple[Plan, Node]] = {}

    def build(self, plan: Plan) -> Node:
        """Returns the node that keeps a plan's rows; the caller becomes a user only by saying so.

        Raises:
            UnknownSource: a relation that is not declared.
            CannotMaintain: a stream without a window, and the like.
        """
        known = self._built.get(id(plan))
        if known is None or known[1].dropped:
            known = self._built[id(plan)] = (plan, self._build(plan))
        return known[1]

    def node(self, identity: Hashable, make: Callable[[], Node], *, common: bool = False) -> Node:
        """Returns the circuit's node of that identity, made if there is none."""
        if self._apart is not None and not common:
            identity = (self._apart, identity)
        found = self.circuit.find(identity)
        if found is None:
            found = make()
            self.circuit.add(identity, found)
        return found

    def _build(self, plan: Plan) -> Node:
        match plan:
            case Scan():
                return self._scan(plan)
            case Window():
                return self._window(plan)
            case Ship():
                return self.build(plan.child)
            case Filter():
                child = self.build(plan.child)
                test = compile_predicate(plan.predicate, plan.child.columns)
                spelt = spelling(plan.predicate, plan.child.columns)
                return self.node(("filter", id(child), spelt), lambda: FilterOperator(child, test))
            case Project():
                return self._project(plan)
            case Join():
                how = self.joins(plan)
                if how is None:
                    return self._matched(plan, PipelinedHashJoin)
                return build_joins(self, plan, how)
            case AntiJoin():
                return self._matched(plan, AntiJoinOperator)
            case OuterJoin() | MarkJoin():
                return self._beside(plan)
            case Union():
                nodes = [self.build(child) for child in plan.children]
                return self.node(("union", *map(id, nodes)), lambda: UnionOperator(*nodes))
            case Distinct():
                child = self.build(plan.child)
                return self.node(("distinct", id(child)), lambda: DistinctOperator(child))
            case Values():
                rows = delta_of((tuple(c.value for c in row), 1) for row in plan.rows)
                return self.node(("values", repr(plan.rows)), lambda: ValuesOperator(rows))
            case SetOperation():
                left, right = self.build(plan.left), self.build(plan.right)
                function, keeps = plan.function, plan.keeps_duplicates
                return self.node(
                    ("set", function, keeps, id(left), id(right)),
                    lambda: SetOperationOperator(left, right, function, keeps_duplicates=keeps),
                )
            case TopK():
                return build_top_k(self, plan)
            case GroupBy():
                return build_group(self, plan)
            case Over():
                return build_over(self, plan)
            case Fixpoint():
                return build_fixpoint(self, plan)
            case RecursiveRef():
                raise CannotMaintain(f"{plan.name} is read outside its recursion", found=plan.name)
            case Apply():
                raise NotFlat

    def _declared(self, plan: Scan) -> Relation:
        relation = self._relations.get(plan.relation)
        if relation is None:
            raise UnknownSource(
                f"there is no relation {plan.relation}",
                found=plan.relation,
                exists=sorted(self._relations),
                attempt="declare it first",
            )
        expected = [(c.name.split(".")[-1], c.type) for c in plan.columns]
        if expected != [(c.name, c.type) for c in relation.columns]:
            raise CannotMaintain(
                f"relation {plan.relation} has other columns by now",
                found=", ".join(name for name, _ in expected),
                exists=relation.names,
                attempt="register the query again",
            )
        return relation

    def _scan(self, plan: Scan) -> Node:
        given = self._given.get(plan.relation)
        if given is not None:
            return given
        relation = self._declared(plan)
        if relation.kind is SourceKind.STREAM:
            raise CannotMaintain(
                f"stream {plan.relation} is read without a window",
                found=plan.relation,
                attempt=f"{plan.relation} [ROWS 1] or [RANGE 30 SECONDS]",
            )
        return self.circuit.source(relation)

    def _window(self, plan: Window) -> Node:
        shape, spelt, scan = self._shape(plan.child)
        relation = self._declared(scan)
        if relation.kind is not SourceKind.STREAM:
            raise CannotMaintain(
                f"{scan.relation} is no stream, a window needs one",
                found=scan.relation,
                attempt="leave the window out",
            )
        partition = indices(plan.partition_by, plan.child.columns)
        slide = () if plan.slide_s is None else (plan.slide_s,)
        by_rows = () if plan.slide_rows is None else ("rows", plan.slide_rows)
        session = () if plan.session_s is None else ("session", plan.session_s)
        bounds = (plan.rows, plan.range_s, *slide, *session, *by_rows)
        on = None if plan.on is None else indices((plan.on,), plan.child.columns)[0]
        event = () if on is None else ("on", on, plan.lateness_s)
        identity = repr((scan.relation, spelt, partition, *bounds, *event))
        spec = WindowIdentity(
            identity, scan.relation, not spelt, partition, plan.rows, plan.bounds.moves_itself
        )

        def make() -> Node:
            stream, range_s, slide_s, rows = scan.relation, plan.range_s, plan.slide_s, plan.rows
            made: WindowOperator
            if plan.session_s is not None:
                made = SessionWindow(stream, shape, plan.session_s, partition)
            elif on is not None:
                lateness_s = plan.lateness_s or 0.0
                made = EventTimeWindow(stream, shape, range_s, slide_s, lateness_s, on)
            elif rows is None:
                made = RangeWindow(stream, shape, range_s, slide_s)
            elif plan.slide_rows is not None:
                made = HoppingRowsWindow(stream, shape, range_s, rows, plan.slide_rows)
            else:
                made = RowsWindow(stream, shape, range_s, slide_s, rows, partition)
            self._begin(spec, made)
            return made

        # As common as a base table: a snapshot knows each window by its identity alone.
        return self.node(("window", identity), make, common=True)

    def _shape(self, plan: Plan) -> tuple[Shape, tuple[str, ...], Scan]:
        """Returns what a stream row becomes below a window, its spelling, and the stream."""
        steps: list[Shape] = []
        spelt: list[str] = []
        while not isinstance(plan, Scan):
            match plan:
                case Ship():
                    pass
                case Filter():
                    steps.append(_kept(compile_predicate(plan.predicate, plan.child.columns)))
                    spelt.append("σ" + spelling(plan.predicate, plan.child.columns))
                case Project():
                    if not _is_renaming(plan):
                        exprs, columns = [expr for _, expr in plan.outputs], plan.child.columns
                        steps.append(compile_row(exprs, columns))
                        spelt.append("π" + ",".join(spelling(expr, columns) for expr in exprs))
                case _:
                    raise CannotMaintain(
                        "a window stands over something that is no stream",
                        found=type(plan).__name__,
                        attempt="put the window right behind the stream's name",
                    )
            plan = plan.child
        return _composed(steps[::-1]), tuple(spelt[::-1]), plan

    def _project(self, plan: Project) -> Node:
        child = self.build(plan.child)
        if _is_renaming(plan):
            return child
        exprs = [expr for _, expr in plan.outputs]
        compute = compile_row(exprs, plan.child.columns)
        spelt = tuple(spelling(expr, plan.child.columns) for expr in exprs)
        return self.node(("project", id(child), spelt), lambda: ProjectOperator(child, compute))

    def _beside(self, plan: OuterJoin | MarkJoin) -> Node:
        """Returns the left rows with partners and those without, beside what either gets."""
        width = len(plan.left.columns)
        if isinstance(plan, MarkJoin):
            found: Node = self._constant_behind(self._matched(plan, SemiJoin), width, (True,))
            missing: tuple[Value, ...] = (False,)
        else:
            found = self._matched(plan, PipelinedHashJoin)
            missing = (None,) * len(plan.right.columns)
        lonely = self._constant_behind(self._matched(plan, AntiJoinOperator), width, missing)
        return self.node(("union", id(found), id(lonely)), lambda: UnionOperator(found, lonely))

    def _constant_behind(self, node: Node, width: int, values: tuple[Value, ...]) -> Node:
        spelt = (*(repr(Col(str(index))) for index in range(width)), *map(repr, map(Const, values)))
        return self.node(
            ("project", id(node), spelt), lambda: ProjectOperator(node, lambda r: r + values)
        )

    def _matched(
        self,
        plan: Join | AntiJoin | OuterJoin | MarkJoin,
        kind: type[PipelinedHashJoin | AntiJoinOperator],
    ) -> Node:
        left, right = self.build(plan.left), self.build(plan.right)
        both = plan.left.columns + plan.right.columns
        lefts = indices((pair[0] for pair in plan.on), plan.left.columns)
        rights = indices((pair[1] for pair in plan.on), plan.right.columns)
        residual = None if plan.residual is None else compile_predicate(plan.residual, both)
        spelt = None if plan.residual is None else spelling(plan.residual, both)
        identity = (kind.__name__, id(left), id(right), lefts, rights, spelt)
        width = len(plan.left.columns)
        return self.node(identity, lambda: kind(left, right, lefts, rights, residual, width))


def _is_renaming(plan: Project) -> bool:
    names = [column.name for column in plan.child.columns]
    return [expr.name if isinstance(expr, Col) else None for _, expr in plan.outputs] == names


def _kept(test: Callable[[Row], bool]) -> Shape:
    return lambda row: row if test(row) else None


def _composed(steps: list[Shape]) -> Shape:
    def shape(row: Row) -> Row | None:
        shaped: Row | None = row
        for step in steps:
            if shaped is None:
                break
            shaped = step(shaped)
        return shaped

    return steps[0] if len(steps) == 1 else shape
