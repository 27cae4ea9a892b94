"""Sharing: how much of its dataflow a view has in common with others.

    own      σ5(t)   σ7(t)   σ9(t)            a dataflow each, over common base tables
    trunk    π(σ5(t))   π'(σ5(t))             equal subplans are one node: the default
    tenant   t ⋈ parameters {5, 7, 9}         one dataflow for a shape, a row for each question

Law:        a view's rows do not depend on how it is shared.
Source:     [GOE19] sections 7 and 10; the names are its (a), (b) and (c).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from itertools import count
from typing import Generic, TypeVar

from aspen.algebra.lift import PARAMETERS, Lifted, lift
from aspen.algebra.plan import Distinct, Join, Plan, Project, Scan, children
from aspen.errors import AspenError
from aspen.model.delta import Delta, accumulate
from aspen.model.schema import Column, Relation, Row
from aspen.views.circuit import Circuit
from aspen.views.node import Node
from aspen.views.operators.scan import ScanOperator

Guest = TypeVar("Guest")
Build = Callable[[ScanOperator], Node]
"""Compiles a shape over the table of its parameters."""


class UnknownSharing(AspenError):
    """A way of sharing dataflows that the engine does not have."""

    code = "aspen.runtime.unknown_sharing"


class SharingMode(Enum):
    """What a registration asks for."""

    AUTO = "auto"
    OWN = "own"
    TRUNK = "trunk"
    TENANT = "tenant"


@dataclass(frozen=True, slots=True)
class Chosen:
    """How a view is shared, and why.

    Args:
        lifted: its shape, where it is a tenant.
    """

    mode: SharingMode
    reason: str
    lifted: Lifted | None = None


def choose_sharing(spelt: str, plan: Plan) -> Chosen:
    """Decide how a view is shared.

    Args:
        spelt: what the registration asks for.
        plan: over views and base relations, as registered.

    Raises:
        UnknownSharing: no such mode.
    """
    try:
        asked = SharingMode(spelt)
    except ValueError as error:
        raise UnknownSharing(
            f"there is no sharing {spelt!r}",
            found=spelt,
            exists=[mode.value for mode in SharingMode],
        ) from error
    if asked in (SharingMode.OWN, SharingMode.TRUNK):
        return Chosen(asked, "as asked for")
    lifted = lift(plan)
    if lifted is None:
        return Chosen(SharingMode.TRUNK, "it compares no column with a constant of its own")
    values = ", ".join(dict.fromkeys(map(repr, lifted.values)))
    if asked is SharingMode.TENANT:
        return Chosen(SharingMode.TENANT, f"as asked for; its parameters are {values}", lifted)
    if not _finds_by_key(lifted.shape):
        return Chosen(
            SharingMode.TRUNK, "its constants are compared by order alone: no key finds who asked"
        )
    return Chosen(SharingMode.TENANT, f"queries of its shape differ in {values} alone", lifted)


def _finds_by_key(shape: Plan) -> bool:
    """Whether each join with the parameters has an equality to find them by."""
    if isinstance(shape, Join) and not shape.on and _is_parameters(shape.right):
        return False
    return all(_finds_by_key(child) for child in children(shape))


def _is_parameters(plan: Plan) -> bool:
    if isinstance(plan, Distinct | Project):
        return _is_parameters(plan.child)
    return isinstance(plan, Scan) and plan.relation == PARAMETERS


@dataclass(slots=True, eq=False)
class Shape(Generic[Guest]):
    """One dataflow, and who takes which of its rows.

    Args:
        question: what identifies it.
        parameters: one row per question.
        node: its rows end in the parameters they belong to.
        guests: by parameters.
    """

    question: Hashable
    parameters: ScanOperator
    node: Node
    guests: dict[Row, list[Guest]] = field(default_factory=dict)

    @property
    def width(self) -> int:
        """How many parameters there are."""
        return len(self.parameters.relation.columns)

    def split(self, delta: Delta) -> dict[Row, Delta]:
        """Returns the rows of each question, without its parameters."""
        width, parts = self.width, dict[Row, Delta]()
        for row, weight in delta.items():
            accumulate(parts.setdefault(row[-width:], {}), row[:-width], weight)
        return parts


class Shapes(Generic[Guest]):
    """The shapes of one lane.

    Args:
        rows_of: the rows a guest holds.

    `broken` has the guests of shapes that failed while another entered; the lane empties it.
    """

    def __init__(self, circuit: Circuit, rows_of: Callable[[Guest], Delta]) -> None:
        self._circuit = circuit
        self._rows_of = rows_of
        self._by_question: dict[Hashable, Shape[Guest]] = {}
        self._by_node: dict[Node, Shape[Guest]] = {}
        self._number = count(1)
        self.broken: list[tuple[Guest, AspenError]] = []

    def __len__(self) -> int:
        return len(self._by_question)

    def enter(
        self,
        question: Hashable,
        columns: tuple[Column, ...],
        values: Row,
        build: Build,
        guest: Guest,
    ) -> tuple[Shape[Guest], Delta]:
        """Let a view take part in its shape's dataflow, between epochs.

        Args:
            question: equal for equal shapes over equal views.
            columns: of the parameters.
            values: the view's own.
            build: for a shape that nobody has asked for yet.

        Returns:
            The shape, and the rows that are there for these parameters.

        Raises:
            AspenError: whatever an operator fails with; all guests of the shape are `broken` then.
        """
        shape = self._by_question.get(question)
        if shape is None:
            shape = self._begin(question, columns, values, build)
            rows = shape.split(shape.node.contents()).get(values, {})
        elif values in shape.guests:
            rows = dict(self._rows_of(shape.guests[values][0]))
        else:
            rows = self._ask(shape, values)
        shape.guests.setdefault(values, []).append(guest)
        return shape, rows

    def leave(self, shape: Shape[Guest], values: Row, guest: Guest) -> None:
        """Let a view go; what only it asked for is taken out in the next epoch."""
        guests = shape.guests[values]
        guests.remove(guest)
        if guests:
            return
        del shape.guests[values]
        if shape.guests:
            self._circuit.change(shape.parameters, values, -1)
            return
        self.forget(shape)
        self._circuit.release(shape.node)
        self._circuit.release(shape.parameters)

    def deliveries(self, node: Node) -> Iterator[tuple[Guest, Delta]]:
        """Returns what an epoch brought to each guest of a node; nobody's rows are left out."""
        shape = self._by_node.get(node)
        if shape is None:
            return
        for values, delta in shape.split(node.delta).items():
            for guest in shape.guests.get(values, ()):
                yield guest, delta

    def guests(self, node: Node) -> Iterable[Guest]:
        """Returns everybody who takes rows of a node."""
        shape = self._by_node.get(node)
        return [] if shape is None else [g for guests in shape.guests.values() for g in guests]

    def forget(self, shape: Shape[Guest]) -> None:
        """Let nobody enter a shape any more; its guests stay until they leave."""
        if self._by_question.get(shape.question) is shape:
            del self._by_question[shape.question]
        self._by_node.pop(shape.node, None)

    def _begin(
        self, question: Hashable, columns: tuple[Column, ...], values: Row, build: Build
    ) -> Shape[Guest]:
        circuit, number = self._circuit, next(self._number)
        # Not deletable as far as provenance goes: nobody's answer rests on having been asked.
        scan = ScanOperator(Relation(f"parameters_{number}", columns, deletable=False))
        scan.table = {values: 1}
        scan.users = 1
        circuit.add(("parameters", number), scan)
        try:
            node = build(scan)
        except Exception:
            circuit.release(scan)
            raise
        node.users += 1
        shape = Shape[Guest](question, scan, node)
        self._by_question[question] = self._by_node[node] = shape
        return shape

    def _ask(self, shape: Shape[Guest], values: Row) -> Delta:
        if shape.parameters.pending:
            self._epoch(shape)  # who left must be gone before the same question comes back
        self._circuit.change(shape.parameters, values, 1)
        return self._epoch(shape).get(values, {})

    def _epoch(self, shape: Shape[Guest]) -> dict[Row, Delta]:
        moved = self._circuit.step()
        failure = shape.node.failure or shape.parameters.failure
        found = {} if failure else shape.split(shape.node.delta)
        self._circuit.settle(moved)
        if failure is not None:
            self.broken += [(guest, failure) for guest in self.guests(shape.node)]
            self.forget(shape)
            raise failure
        return found
