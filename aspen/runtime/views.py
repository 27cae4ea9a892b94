"""Views: the registered views of a lane, compiled into its circuit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress

from aspen.algebra.inline import inline
from aspen.algebra.lift import PARAMETERS, Lifted
from aspen.algebra.plan import Fixpoint, Join, Plan, relations_of
from aspen.algebra.read import read_plan
from aspen.effort import effort
from aspen.errors import AspenError, as_aspen_error
from aspen.log.entry import Register
from aspen.model.delta import Delta, negate
from aspen.model.schema import Relation
from aspen.runtime.assignment import (
    Assignment,
    Assignments,
    Bordered,
    is_own,
    starts_warm,
    windows_of,
)
from aspen.runtime.borders_here import BordersHere
from aspen.runtime.completeness import complete_since_s
from aspen.runtime.keys import KeyedRoots
from aspen.runtime.own_assignment import monitors, own_part, reads_own
from aspen.runtime.sharing import SharingMode, Templates, choose_sharing
from aspen.runtime.view import BrokenView, CircularView, Counted, Fields, View
from aspen.views.choose import choose_or_take, recursions
from aspen.views.choose_joins import made_together
from aspen.views.circuit import Circuit
from aspen.views.compile import Compiler, UnknownSource, WindowIdentity
from aspen.views.foresee import refuse_hopeless
from aspen.views.node import Node
from aspen.views.operators.scan import ScanOperator
from aspen.views.operators.support.strategies import AUTO
from aspen.views.operators.window import WindowOperator
from aspen.views.rotate import kept_as

CROSSING_STRATEGY = "justification"


class Views:
    """The views of one lane.

    Args:
        begin: fills a window that nobody kept before.

    `notices` has what operators want people to know; whoever reads it empties it.
    """

    def __init__(
        self,
        circuit: Circuit,
        relations: Mapping[str, Relation],
        begin: Callable[[WindowIdentity, WindowOperator], None],
        assignments: Assignments,
    ) -> None:
        self._circuit = circuit
        self._relations = relations
        self._begin = begin
        self.assignments = assignments
        self.keys = KeyedRoots(circuit, relations, assignments)
        self.known = Counted(circuit)
        self.by_name: dict[str, View] = {}
        self.notices: list[AspenError] = []
        self._by_node: dict[int, list[View]] = {}
        self.templates: Templates[View] = Templates(circuit, lambda view: view.rows)
        self.borders = BordersHere[View](circuit, assignments.share.number, assignments.borders)

    def on(self, node: Node) -> Iterable[View]:
        """Returns the views whose rows a node has."""
        guests = (*self.templates.guests(node), *self.borders.guests(node))
        return [*self._by_node.get(id(node), ()), *guests]

    def deliveries(self, node: Node) -> Iterable[tuple[View, Delta]]:
        """Returns what an epoch brought to each view of a node."""
        yield from ((view, node.delta) for view in self._by_node.get(id(node), ()))
        yield from self.templates.deliveries(node)

    def open(
        self,
        entry: Register,
        closed: Plan | None = None,
        *,
        suspended: bool = False,
        assignment: Assignment | None = None,
        alone: bool = False,
        trusted: bool = False,
    ) -> View:
        """Compile a view and begin to maintain it; an error becomes part of the view.

        Args:
            closed: the plan over base relations, when a snapshot knows it.
            suspended: only see that it could be maintained.
            assignment: where it is kept, when a snapshot knows it.
            alone: it shares no template, because that one asks too much.
            trusted: it was maintained until now, so building it may take any number of steps.
        """
        budget = self._circuit.budget(entry.view, entry.most_steps, entry.most_bytes, entry.owner)
        view = self.by_name[entry.view] = View(entry, suspended=suspended, budget=budget)
        try:
            plan = read_plan(entry.plan_text)
            view.take_plan(plan)
            view.check_name(self._relations)
            view.sharing = choose_sharing("trunk" if alone else entry.sharing, plan)
            try:
                present = self._close(entry.view, plan)
            except AspenError:
                if closed is None:
                    raise
                present = None  # what it reads has ended, it goes on
            view.closed = own = closed or present
            assert own is not None
            if own == present:
                view.over = tuple(self.by_name[n] for n in sorted(view.reads) if n in self.by_name)
            view.monitors = monitors(own)
            lifted = view.sharing.lifted
            values = () if lifted is None else lifted.values
            view.assignment = self.assignments.put(entry.view, own, values, assignment, self.keys)
            view.part = self.assignments.part(view.assignment, own)
            view.strategies = self._strategies(entry.strategy, plan, view.part or own)
            if isinstance(view.assignment, Bordered):
                view.reads |= {view.assignment.root.relation}
            if suspended:
                return view
            if not trusted:
                refuse_hopeless(view.part or own, self.known, entry.most_steps)
            with self._circuit.beginning(budget, trusted=trusted):
                self._cross(view)
                # A template is closed over the views of today.
                if view.part is None:
                    self._keep_leaves(view, own)
                elif lifted is None or own != present or is_own(view.assignment):
                    self._attach(view, self._compile(view, view.part, view.strategies))
                else:
                    self._enter(view, lifted)
            budget.check_held()
            view.check_rows()
        except Exception as error:  # noqa: BLE001 - a plan that cannot be built must not stop the lane
            self.close(view)
            view.rows = {}
            self.notices += view.broken_by(as_aspen_error(error))
            view.assignment = view.assignment or self.assignments.put(
                entry.view, None, (), assignment, self.keys
            )
        self._circuit.collect()
        return view

    def rest(self, view: View) -> None:
        """Releases a view's operators and rows, until somebody looks."""
        self.close(view)
        view.rows, view.suspended = {}, True

    def find(self, plan: Plan) -> Node:
        """The node of a part of a maintained plan; the circuit drops it if it is no longer."""
        views = self.by_name.values()
        chosen = [choice for view in views for choice in view.strategies.items()]
        strategies = {seen: how for one, how in chosen for seen in kept_as(one)}
        return self._compile(None, plan, strategies)

    def answer(self, plan: Plan) -> tuple[Delta, float | None]:
        """Returns what a plan has now, and since when that is complete; what it builds goes again.

        Raises:
            AspenError: it reads what is not there, or cannot be computed.
        """
        share = self.assignments.share
        closed = self._close("", plan)
        if reads_own(closed):
            closed = own_part(closed, share.number, share.lanes)
        try:
            strategies = self._strategies(AUTO, plan, closed)
            node = self._compile(None, closed, strategies)
            return dict(node.contents()), complete_since_s(node)
        finally:
            self._circuit.collect()

    def reopen(self, view: View) -> None:
        """Build a view's operators anew over the same rows, because the ones it has are broken."""
        assert view.part is not None
        lifted = None if view.sharing is None else view.sharing.lifted
        with self._circuit.serving(view.budget):
            if view.template is not None and lifted is not None:
                self.templates.forget(view.template)
                self._detach(view)
                self._enter(view, lifted)
            elif view.crossing:
                self._detach(view)
                self._cross(view)
                self._attach(view, self._compile(view, view.part, view.strategies))
            else:
                node = self._compile(view, view.part, view.strategies)
                # The new ones hold on to what both share before the old ones let go.
                node.users += 1
                self._detach(view)
                node.users -= 1
                self._attach(view, node)

    def keep_broken(
        self, entry: Register, error: Fields, assignment: Assignment | None = None
    ) -> None:
        """Note a view that was in error when a snapshot was taken."""
        view = self.by_name[entry.view] = View(entry, error=error)
        view.assignment = self.assignments.put(entry.view, None, (), assignment, self.keys)
        with suppress(AspenError):
            view.take_plan(read_plan(entry.plan_text))

    def close(self, view: View) -> None:
        """Stop maintaining a view; its operators go unless others use them."""
        self._detach(view)
        view.budget.end()

    def _detach(self, view: View) -> None:
        leaves, view.leaves = view.leaves, []
        for leaf in leaves:
            self._circuit.release(leaf)
        node, view.node = view.node, None
        if view.template is not None:
            self.templates.leave(view.template, view.values, view)
            view.template = None
        elif node is not None:
            views = self._by_node[id(node)]
            views.remove(view)
            if not views:
                del self._by_node[id(node)]
            self._circuit.release(node)
        if view.crossing:
            self.borders.leave(view.crossing, view)
            view.crossing = ""

    @contextmanager
    def completely(self, name: str) -> Iterator[None]:
        """Have all of a view in this lane for a moment, where it is kept elsewhere or in parts."""
        view = self.by_name.get(name)
        if view is None or view.closed is None or view.error or view.suspended or view.complete:
            yield
            return
        whole = View(view.entry, view.plan, view.closed, part=view.closed, sharing=view.sharing)
        whole.budget.steps = view.entry.most_steps
        whole.strategies = self._strategies(view.entry.strategy, view.closed, view.closed)
        self.by_name[name] = whole
        try:
            with self._circuit.serving(whole.budget):
                self._attach(whole, self._compile(whole, view.closed, whole.strategies))
        except Exception as error:  # noqa: BLE001 - no question may stop the lane
            whole.error = as_aspen_error(error).as_dict()
        try:
            yield
        finally:
            self.close(whole)
            self.by_name[name] = view
            self._circuit.collect()

    def fail(self, view: View, error: AspenError) -> Delta:
        """Stop maintaining a view that cannot go on.

        Returns:
            The change that takes its rows away.
        """
        self.close(view)
        self.notices += view.broken_by(error)
        gone, view.rows = negate(view.rows), {}
        return gone

    def readers(self, name: str) -> list[View]:
        """Returns the views that read a view or relation, each after what it reads itself."""
        found: set[str] = set()
        names = [name]
        while names:
            current = names.pop()
            for other, view in self.by_name.items():
                if current in view.reads and other not in found:
                    found.add(other)
                    names.append(other)
        ordered: list[View] = []
        while found:
            ready = [v for v in found if not any(self.by_name[v].mentions(o) for o in found - {v})]
            # Views that read each other in a cycle are in error, in whatever order.
            ready = ready or list(found)
            ordered += [self.by_name[view] for view in sorted(ready)]
            found -= set(ready)
        return ordered

    def _attach(self, view: View, node: Node) -> None:
        view.rows = dict(node.contents())
        node.users += 1
        view.node = node
        self._by_node.setdefault(id(node), []).append(view)

    def _cross(self, view: View) -> None:
        """Build what a view that is split by networks has in common with others of its recursion.

        A choice by size would be made before any border row is there, and fall on recomputing.
        """
        if isinstance(view.assignment, Bordered):
            assert view.closed is not None
            share, _ = self.assignments.crossing(view.assignment, view.closed)
            view.strategies |= dict.fromkeys(recursions(share.inner), CROSSING_STRATEGY)
            name = view.assignment.crossing.name
            self.borders.enter(
                name, share, view, lambda plan: self._compile(view, plan, view.strategies)
            )
            view.crossing = name

    def _keep_leaves(self, view: View, plan: Plan) -> None:
        """Keep the windows of a view of another lane: any lane's snapshot serves them all."""
        for window in windows_of(plan):
            if not starts_warm(window, self._relations):
                node = self._compile(None, window, {})
                node.users += 1
                view.leaves.append(node)

    def _enter(self, view: View, lifted: Lifted) -> None:
        """Let a view take part in its template's dataflow."""
        given = frozenset((PARAMETERS,))
        closed = self._close(view.entry.view, lifted.template, given)
        strategies = self._strategies(view.entry.strategy, lifted.template, closed)

        def build(parameters: ScanOperator) -> Node:
            return self._compile(view, closed, strategies, {PARAMETERS: parameters})

        question = (closed, tuple(strategies.values()))
        view.template, view.rows = self.templates.enter(
            question, lifted.columns, lifted.values, build, view, view.budget
        )
        view.node = view.template.node

    @effort()
    def _compile(
        self,
        view: View | None,
        closed: Plan,
        strategies: Mapping[Fixpoint | Join, str],
        given: Mapping[str, Node] | None = None,
    ) -> Node:
        name = "?" if view is None else view.entry.view

        def notify(error: AspenError) -> None:
            self.notices.append(type(error)(f"view {name}: {error.message}"))

        chosen = None if view is None else view.sharing
        alone = chosen is not None and chosen.mode is SharingMode.OWN
        compiler = Compiler(
            self._circuit,
            self._relations,
            self._begin,
            strategies.__getitem__,
            notify,
            {**self.borders.given, **(given or {})},
            apart=name if alone else None,
            joins=strategies.get,
        )
        return compiler.build(closed)

    def _strategies(self, spelt: str, plan: Plan, closed: Plan) -> dict[Fixpoint | Join, str]:
        """Say how recursions and joins are maintained: those inside a view that is read, as there.

        Raises:
            UnknownStrategy: no such strategy.
        """
        own = choose_or_take(closed, self.known, spelt).strategy
        read = [self.by_name[name] for name in relations_of(plan) if name in self.by_name]
        theirs = {one: how for view in read for one, how in view.strategies.items()}
        chosen = made_together(closed, self.known, self._relations)
        chosen |= dict.fromkeys(recursions(closed), own)
        return {one: theirs.get(one, how) for one, how in chosen.items()}

    @effort()
    def _close(self, name: str, plan: Plan, given: frozenset[str] = frozenset()) -> Plan:
        """Inline the views a plan reads."""
        views: dict[str, Plan] = {}
        for other in sorted(relations_of(plan)):
            view = None if other in self._relations else self.by_name.get(other)
            if view is None:
                continue
            if other == name or view in self.readers(name):
                raise CircularView(
                    f"view {name} reads itself through {other}",
                    found=other,
                    attempt="WITH RECURSIVE says where recursion begins",
                )
            if view.error is not None or view.closed is None:
                raise BrokenView(
                    f"view {other} is not maintained, so {name} cannot be",
                    found=other,
                    attempt=f"mend {other} first",
                )
            views[other] = view.closed
        missing = relations_of(plan) - set(self._relations) - set(views) - given
        if missing:
            raise UnknownSource(
                f"there is no relation or view {min(missing)}",
                found=min(missing),
                exists=sorted({*self._relations, *self.by_name} - {name}),
                attempt="declare it or register it first",
            )
        return inline(plan, views)
