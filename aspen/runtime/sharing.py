"""Sharing: how much of its dataflow a view has in common with others.

    own      σ5(t)   σ7(t)   σ9(t)            a dataflow each, over common base tables
    trunk    π(σ5(t))   π'(σ5(t))             equal subplans are one node: the default
    tenant   t ⋈ parameters {5, 7, 9}         one dataflow for a template, a row for each question

Law:        a view's rows do not depend on how it is shared.
Source:     [GOE19] sections 7 and 10; the names are its (a), (b) and (c).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from itertools import count
from typing import Generic, TypeVar

from aspen.algebra.lift import PARAMETERS, Lifted, lift
from aspen.algebra.plan import Distinct, Join, Plan, Project, Scan, children
from aspen.errors import AspenError
from aspen.model.delta import Delta, accumulate
from aspen.model.schema import Column, Relation, Row
from aspen.views.budgets import Budget
from aspen.views.circuit import Circuit
from aspen.views.node import Node
from aspen.views.operators.scan import ScanOperator

Guest = TypeVar("Guest")
Build = Callable[[ScanOperator], Node]
"""Compiles a template over the table of its parameters."""


class UnknownSharing(AspenError, code="aspen.runtime.unknown_sharing"):
    """A way of sharing dataflows that the engine does not have."""


class SharingMode(Enum):
    """What a registration asks for."""

    AUTO = "auto"
    OWN = "own"
    TRUNK = "trunk"
    TENANT = "tenant"


@dataclass(frozen=True, slots=True)
class SharingChoice:
    """How a view is shared, and why.

    Args:
        lifted: its template, where it is a tenant.
    """

    mode: SharingMode
    reason: str
    lifted: Lifted | None = None


def choose_sharing(spelt: str, plan: Plan) -> SharingChoice:
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
        return SharingChoice(asked, "as asked for")
    lifted = lift(plan)
    if lifted is None:
        return SharingChoice(SharingMode.TRUNK, "it compares no column with a constant of its own")
    values = ", ".join(dict.fromkeys(map(repr, lifted.values)))
    if asked is SharingMode.TENANT:
        return SharingChoice(
            SharingMode.TENANT, f"as asked for; its parameters are {values}", lifted
        )
    if not _finds_by_key(lifted.template):
        return SharingChoice(
            SharingMode.TRUNK, "its constants are compared by order alone: no key finds who asked"
        )
    return SharingChoice(
        SharingMode.TENANT, f"queries of its template differ in {values} alone", lifted
    )


def _finds_by_key(template: Plan) -> bool:
    """Whether each join with the parameters has an equality to find them by."""
    if isinstance(template, Join) and not template.on and _is_parameters(template.right):
        return False
    return all(_finds_by_key(child) for child in children(template))


def _is_parameters(plan: Plan) -> bool:
    if isinstance(plan, Distinct | Project):
        return _is_parameters(plan.child)
    return isinstance(plan, Scan) and plan.relation == PARAMETERS


@dataclass(slots=True, eq=False)
class Template(Generic[Guest]):
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

    def split(self, delta: Delta) -> dict[Row, Delta]:
        """Returns the rows of each question, without its parameters."""
        width, parts = len(self.parameters.relation.columns), dict[Row, Delta]()
        for row, weight in delta.items():
            accumulate(parts.setdefault(row[-width:], {}), row[:-width], weight)
        return parts


class Templates(Generic[Guest]):
    """The templates of one lane.

    Args:
        rows_of: the rows a guest holds.

    `broken` has the guests of templates that failed while another entered; the lane empties it.
    """

    def __init__(self, circuit: Circuit, rows_of: Callable[[Guest], Delta]) -> None:
        self._circuit = circuit
        self._rows_of = rows_of
        self._by_question: dict[Hashable, Template[Guest]] = {}
        self._by_node: dict[Node, Template[Guest]] = {}
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
        budget: Budget,
    ) -> tuple[Template[Guest], Delta]:
        """Let a view take part in its template's dataflow, between epochs.

        Args:
            question: equal for equal templates over equal views.
            columns: of the parameters.
            values: the view's own.
            build: for a template that nobody has asked for yet.
            budget: what the view may do and hold.

        Returns:
            The template, and the rows that are there for these parameters.

        Raises:
            AspenError: what an operator fails with; all guests of the template are `broken` then.
        """
        template = self._by_question.get(question)
        if template is None:
            template = self._begin(question, columns, values, build)
            rows = template.split(template.node.contents()).get(values, {})
        elif values in template.guests:
            rows = dict(self._rows_of(template.guests[values][0]))
        else:
            rows = self._ask(template, values)
        self._circuit.pay(template.node, budget)
        template.guests.setdefault(values, []).append(guest)
        return template, rows

    def leave(self, template: Template[Guest], values: Row, guest: Guest) -> None:
        """Let a view go; what only it asked for is taken out in the next epoch."""
        guests = template.guests[values]
        guests.remove(guest)
        if guests:
            return
        del template.guests[values]
        if template.guests:
            self._circuit.change(template.parameters, values, -1)
            return
        self.forget(template)
        self._circuit.release(template.node)
        self._circuit.release(template.parameters)

    def deliveries(self, node: Node) -> Iterator[tuple[Guest, Delta]]:
        """Returns what an epoch brought to each guest of a node; nobody's rows are left out."""
        template = self._by_node.get(node)
        if template is None:
            return
        for values, delta in template.split(node.delta).items():
            for guest in template.guests.get(values, ()):
                yield guest, delta

    def guests(self, node: Node) -> list[Guest]:
        """Returns everybody who takes rows of a node."""
        template = self._by_node.get(node)
        return (
            [] if template is None else [g for guests in template.guests.values() for g in guests]
        )

    def forget(self, template: Template[Guest]) -> None:
        """Let nobody enter a template any more; its guests stay until they leave."""
        if self._by_question.get(template.question) is template:
            del self._by_question[template.question]
        self._by_node.pop(template.node, None)

    def _begin(
        self, question: Hashable, columns: tuple[Column, ...], values: Row, build: Build
    ) -> Template[Guest]:
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
        template = Template[Guest](question, scan, node)
        self._by_question[question] = self._by_node[node] = template
        return template

    def _ask(self, template: Template[Guest], values: Row) -> Delta:
        if template.parameters.pending:
            self._epoch(template)  # who left must be gone before the same question comes back
        self._circuit.change(template.parameters, values, 1)
        return self._epoch(template).get(values, {})

    def _epoch(self, template: Template[Guest]) -> dict[Row, Delta]:
        moved = self._circuit.step()
        failure = template.node.failure or template.parameters.failure
        found = {} if failure else template.split(template.node.delta)
        self._circuit.settle(moved)
        if failure is not None:
            self.broken += [(guest, failure) for guest in self.guests(template.node)]
            self.forget(template)
            raise failure
        return found
