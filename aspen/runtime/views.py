"""Views: the registered views of a lane, compiled into its circuit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from aspen.algebra.lift import PARAMETERS, Lifted
from aspen.algebra.plan import Fixpoint, Plan, relations_of
from aspen.algebra.read import read_plan
from aspen.errors import AspenError
from aspen.log.entry import Register
from aspen.model.delta import Delta, negate
from aspen.model.schema import Relation, Row
from aspen.runtime.sharing import Chosen, Shape, Shapes, SharingMode, choose_sharing
from aspen.views.choose import choose_or_take, recursions
from aspen.views.circuit import Circuit, OperatorFailed
from aspen.views.compile import Compiler, UnknownSource, WindowSpec
from aspen.views.inline import inline
from aspen.views.node import Node
from aspen.views.operators.scan import Scan
from aspen.views.operators.window import Window
from aspen.views.rotate import rotations

Fields = dict[str, Any]


class NameTaken(AspenError):
    """A view named like a base relation."""

    code = "aspen.runtime.name_taken"


class CircularView(AspenError):
    """A view that reads itself other than by WITH RECURSIVE."""

    code = "aspen.runtime.circular_view"


class BrokenView(AspenError):
    """A view that reads one that is not maintained."""

    code = "aspen.runtime.broken_view"


@dataclass(slots=True, eq=False)
class View:
    """One registered view.

    Args:
        entry: how it was registered.
        plan: as registered, None when its text cannot be read.
        closed: the plan over base relations alone.
        node: the circuit's node that has its rows; None when it is in error.
        rows: what it holds, kept beside the circuit so that it can be taken back when an operator
            fails.
        error: fields of the error, None when it is maintained.
        strategies: how each recursion in the closed plan is maintained.
        sharing: how much of its dataflow it has in common with other views.
        shape: the dataflow it is a tenant of, None where it has its own.
        resting: kept on demand, and nobody looks: it has neither operators nor rows.
    """

    entry: Register
    plan: Plan | None = None
    closed: Plan | None = None
    node: Node | None = None
    rows: Delta = field(default_factory=dict)
    error: Fields | None = None
    strategies: dict[Fixpoint, str] = field(default_factory=dict)
    sharing: Chosen | None = None
    shape: Shape[View] | None = None
    resting: bool = False

    @property
    def values(self) -> Row:
        """Its parameters, as a tenant; otherwise none."""
        lifted = None if self.sharing is None else self.sharing.lifted
        return () if lifted is None or self.shape is None else lifted.values

    def own(self, delta: Delta) -> Delta:
        """Give what a delta of its node is for this view."""
        return delta if self.shape is None else self.shape.split(delta).get(self.values, {})

    @property
    def columns(self) -> tuple[tuple[str, str, str], ...]:
        """Name, type and unit of each output column."""
        if self.plan is None:
            return ()
        return tuple((c.name.split(".")[-1], c.type.value, c.unit) for c in self.plan.columns)

    def mentions(self, name: str) -> bool:
        """Whether the view reads a relation or view of that name, directly."""
        return self.plan is not None and name in relations_of(self.plan)


def fields_of(error: Exception) -> Fields:
    """Give an error's fields; one that no user can mend is named by its kind."""
    if isinstance(error, AspenError):
        return error.as_dict()
    wrapped = OperatorFailed(
        f"the view cannot be maintained: {type(error).__name__}: {error}",
        attempt="register it again; if it fails again, report the query",
    )
    return wrapped.as_dict()


@dataclass(frozen=True, slots=True)
class _Counted:
    """What a lane knows of its relations: how many rows they have now."""

    circuit: Circuit

    def rows(self, relation: str) -> float | None:
        source = self.circuit.sources.get(relation)
        return None if source is None else float(len(source.table))

    def changes(self, relation: str) -> float:
        del relation
        return 1.0


class Views:
    """The views of one lane.

    Args:
        relations: the declared base relations.
        begin: fills a window that nobody kept before.

    `notices` has what operators want people to know; whoever reads it empties it.
    """

    def __init__(
        self,
        circuit: Circuit,
        relations: Mapping[str, Relation],
        begin: Callable[[WindowSpec, Window], None],
    ) -> None:
        self._circuit = circuit
        self._relations = relations
        self._begin = begin
        self.by_name: dict[str, View] = {}
        self.notices: list[AspenError] = []
        self._by_node: dict[int, list[View]] = {}
        self.shapes: Shapes[View] = Shapes(circuit, lambda view: view.rows)

    def on(self, node: Node) -> Iterable[View]:
        """Give the views whose rows a node has."""
        return [*self._by_node.get(id(node), ()), *self.shapes.guests(node)]

    def deliveries(self, node: Node) -> Iterable[tuple[View, Delta]]:
        """Give what an epoch brought to each view of a node."""
        yield from ((view, node.delta) for view in self._by_node.get(id(node), ()))
        yield from self.shapes.deliveries(node)

    def open(self, entry: Register, closed: Plan | None = None, *, resting: bool = False) -> View:
        """Compile a view and begin to maintain it; an error becomes part of the view.

        Args:
            closed: the plan over base relations, when a snapshot knows it.
            resting: only see that it could be maintained.
        """
        view = View(entry, resting=resting)
        self.by_name[entry.view] = view
        try:
            view.plan = read_plan(entry.plan_text)
            self._check(entry)
            view.sharing = choose_sharing(entry.sharing, view.plan)
            try:
                present = self._close(entry.view, view.plan)
            except AspenError:
                if closed is None:
                    raise
                present = None  # what it reads has ended, it goes on
            view.closed = own = closed or present
            assert own is not None
            view.strategies = self._strategies(entry.strategy, view.plan, own)
            if resting:
                return view
            # A shape is closed over the views of today.
            if view.sharing.lifted is None or own != present:
                self._attach(view, self._compile(view, own, view.strategies))
            else:
                self._enter(view, view.sharing.lifted)
        except Exception as error:  # noqa: BLE001 - a plan that cannot be built must not stop the lane
            view.error, view.resting = fields_of(error), False
        self._circuit.collect()
        return view

    def rest(self, view: View) -> None:
        """Give up a view's operators and rows, until somebody looks."""
        self.close(view)
        view.rows, view.resting = {}, True

    def find(self, plan: Plan) -> Node:
        """Give the node of a part of a maintained plan; the circuit drops it if it is no longer."""
        views = self.by_name.values()
        strategies = {
            seen: how
            for view in views
            for one, how in view.strategies.items()
            for seen in rotations(one)
        }
        return self._compile(None, plan, strategies)

    def reopen(self, view: View) -> None:
        """Build a view's operators anew over the same rows, because the ones it has are broken."""
        assert view.closed is not None
        if view.shape is not None and view.sharing is not None and view.sharing.lifted is not None:
            self.shapes.forget(view.shape)
            self.close(view)
            self._enter(view, view.sharing.lifted)
            return
        node = self._compile(view, view.closed, view.strategies)
        # The new ones hold on to what both share before the old ones let go.
        node.users += 1
        self.close(view)
        node.users -= 1
        self._attach(view, node)

    def keep_broken(self, entry: Register, error: Fields) -> None:
        """Note a view that was in error when a snapshot was taken."""
        view = self.by_name[entry.view] = View(entry, error=error)
        with suppress(AspenError):
            view.plan = read_plan(entry.plan_text)

    def close(self, view: View) -> None:
        """Stop maintaining a view; its operators go unless others use them."""
        node, view.node = view.node, None
        if view.shape is not None:
            self.shapes.leave(view.shape, view.values, view)
            view.shape = None
        elif node is not None:
            views = self._by_node[id(node)]
            views.remove(view)
            if not views:
                del self._by_node[id(node)]
            self._circuit.release(node)

    def fail(self, view: View, error: Exception) -> Delta:
        """Stop maintaining a view that cannot go on.

        Returns:
            The change that takes its rows away.
        """
        self.close(view)
        view.error = fields_of(error)
        gone, view.rows = negate(view.rows), {}
        return gone

    def readers(self, name: str) -> list[View]:
        """Give the views that read a view or relation, each after what it reads itself."""
        found: set[str] = set()
        names = [name]
        while names:
            current = names.pop()
            for other, view in self.by_name.items():
                if other not in found and view.mentions(current):
                    found.add(other)
                    names.append(other)
        ordered: list[View] = []
        while found:
            ready = [v for v in found if not any(self.by_name[v].mentions(o) for o in found - {v})]
            # Views that read each other in a circle are in error, in whatever order.
            ready = ready or list(found)
            ordered += [self.by_name[view] for view in sorted(ready)]
            found -= set(ready)
        return ordered

    def _attach(self, view: View, node: Node) -> None:
        node.users += 1
        view.node = node
        view.rows = dict(node.contents())
        self._by_node.setdefault(id(node), []).append(view)

    def _check(self, entry: Register) -> None:
        if entry.view in self._relations:
            raise NameTaken(
                f"{entry.view} is a base relation", found=entry.view, attempt="use another name"
            )

    def _enter(self, view: View, lifted: Lifted) -> None:
        """Let a view take part in its shape's dataflow."""
        given = frozenset((PARAMETERS,))
        closed = self._close(view.entry.view, lifted.shape, given)
        strategies = self._strategies(view.entry.strategy, lifted.shape, closed)

        def build(parameters: Scan) -> Node:
            return self._compile(view, closed, strategies, {PARAMETERS: parameters})

        question = (closed, tuple(strategies.values()))
        view.shape, view.rows = self.shapes.enter(
            question, lifted.columns, lifted.values, build, view
        )
        view.node = view.shape.node

    def _compile(
        self,
        view: View | None,
        closed: Plan,
        strategies: Mapping[Fixpoint, str],
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
            given,
            apart=name if alone else None,
        )
        return compiler.build(closed)

    def _strategies(self, spelt: str, plan: Plan, closed: Plan) -> dict[Fixpoint, str]:
        """Say how each recursion is maintained: one inside a view that is read, as that view's is.

        Raises:
            UnknownStrategy: no such strategy.
        """
        own = choose_or_take(closed, _Counted(self._circuit), spelt).strategy
        read = [self.by_name[name] for name in relations_of(plan) if name in self.by_name]
        theirs = {one: how for view in read for one, how in view.strategies.items()}
        return {recursion: theirs.get(recursion, own) for recursion in recursions(closed)}

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
