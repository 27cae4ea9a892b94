"""View: one registered view of a lane, and what can keep it from being maintained."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from aspen.algebra.plan import Fixpoint, Join, Plan, relations_of
from aspen.algebra.whole import OutOfRange
from aspen.errors import AspenError
from aspen.log.entry import Register
from aspen.model.delta import Delta
from aspen.model.schema import Row, header_of
from aspen.runtime.assignment import Assignment
from aspen.runtime.completeness import complete_since_s
from aspen.runtime.sharing import SharingChoice, Template
from aspen.views.budgets import Budget
from aspen.views.circuit import Circuit
from aspen.views.compile import UnknownSource
from aspen.views.node import EndlessRecursion, Node
from aspen.views.work import RowsExceeded, WorkExceeded

Fields = dict[str, Any]


class ViewNameTaken(AspenError, code="aspen.runtime.name_taken"):
    """A view named like a base relation."""


class CircularView(AspenError, code="aspen.runtime.circular_view"):
    """A view that reads itself other than by WITH RECURSIVE."""


class BrokenView(AspenError, code="aspen.runtime.broken_view"):
    """A view that reads one that is not maintained."""


WAITING = (UnknownSource.code, BrokenView.code)
"""Errors that pass when what is missing comes."""
OF_ONE = (OutOfRange, WorkExceeded)
"""Errors that one of the views of a template may bring about by its constants."""


@dataclass(slots=True, eq=False)
class View:
    """One registered view.

    Args:
        entry: how it was registered.
        plan: as registered, None when its text cannot be read.
        closed: the plan over base relations alone.
        assignment: which lane keeps which part of it.
        part: the plan of what this lane keeps of it, None where that is nothing.
        leaves: windows that this lane keeps for it all the same, for its snapshots.
        node: the circuit's node that has its rows; None when it is in error.
        rows: what it holds, kept beside the circuit so that it can be taken back when an operator
            fails.
        error: fields of the error, None when it is maintained.
        strategies: how each recursion in the closed plan is maintained, and how joins are made.
        sharing: how much of its dataflow it has in common with other views.
        template: the dataflow it is a tenant of, None where it has its own.
        suspended: kept on demand, and nobody looks: it has neither operators nor rows.
        monitors: it reads system relations, itself or through others.
        reads: what `plan` names, found once: each registration asks all views for it.
        over: the views that `closed` was made of, as they were then.
        crossing: the recursion split by networks that this lane has built for it, or nothing.
        budget: what its operators may do and hold.
    """

    entry: Register
    plan: Plan | None = None
    closed: Plan | None = None
    assignment: Assignment | None = None
    part: Plan | None = None
    leaves: list[Node] = field(default_factory=list)
    node: Node | None = None
    rows: Delta = field(default_factory=dict)
    error: Fields | None = None
    strategies: dict[Fixpoint | Join, str] = field(default_factory=dict)
    sharing: SharingChoice | None = None
    template: Template[View] | None = None
    suspended: bool = False
    monitors: bool = False
    reads: frozenset[str] = frozenset()
    over: tuple[View, ...] = ()
    crossing: str = ""
    budget: Budget = field(default_factory=Budget)

    @property
    def complete(self) -> bool:
        """Whether this lane keeps all of it."""
        return self.part is not None and self.part == self.closed

    @property
    def complete_since_s(self) -> float | None:
        """Log time since which all windows below it are complete; None where they are whole."""
        return None if self.node is None else complete_since_s(self.node)

    @property
    def values(self) -> Row:
        """Its parameters, as a tenant; otherwise none."""
        lifted = None if self.sharing is None else self.sharing.lifted
        return () if lifted is None or self.template is None else lifted.values

    def own(self, delta: Delta) -> Delta:
        """Returns what a delta of its node is for this view."""
        return delta if self.template is None else self.template.split(delta).get(self.values, {})

    @property
    def columns(self) -> tuple[tuple[str, str, str], ...]:
        """Name, type and unit of each output column."""
        return () if self.plan is None else header_of(self.plan.columns)

    def broken_by(self, error: AspenError) -> list[AspenError]:
        """Take an error; returns what `engine_error` tells of it: of who asked too much, that."""
        self.error, self.suspended = error.as_dict(), False
        if not isinstance(error, WorkExceeded | EndlessRecursion | OutOfRange):
            return []
        told = f"view {self.entry.view}: {error.message}; try: {error.attempt}"
        return [type(error)(told)]

    def check_name(self, relations: Collection[str]) -> None:
        """Refuse the name of a base relation.

        Raises:
            ViewNameTaken: it is one.
        """
        name = self.entry.view
        if name in relations:
            raise ViewNameTaken(
                f"{name} is a base relation", found=name, attempt="use another name"
            )

    def check_rows(self) -> None:
        """Refuse more rows than it may have.

        Raises:
            RowsExceeded: it has.
        """
        most = self.entry.most_rows
        if 0 < most < len(self.rows):
            raise RowsExceeded(
                f"the result has more than the {most:,} rows that one query may",
                found="the result",
                exists=(f"up to {most:,} rows",),
                attempt="add a condition or LIMIT, or count groups instead of rows",
            )

    def mentions(self, name: str) -> bool:
        """Whether the view reads a relation or view of that name, directly."""
        return name in self.reads

    def only_parted_by(self, relation: str) -> bool:
        """Whether a table says which rows this lane keeps, and nothing else of the view."""
        return self.closed is not None and relation in self.reads - relations_of(self.closed)

    def take_plan(self, plan: Plan) -> None:
        """Note the plan as it was registered."""
        self.plan, self.reads = plan, relations_of(plan)


@dataclass(frozen=True, slots=True)
class Counted:
    """What a lane knows of its relations: how many rows they have now."""

    circuit: Circuit

    def rows(self, relation: str) -> float | None:
        """Returns how many rows a table has; of a stream, None."""
        source = self.circuit.sources.get(relation)
        return None if source is None else float(len(source.table))

    def changes(self, relation: str) -> float:
        """Returns one change, for want of anything better."""
        del relation
        return 1.0
