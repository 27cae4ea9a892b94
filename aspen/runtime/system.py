"""System: what a lane knows of itself, as rows of `sys_queries`, `sys_operators` and the like.

    log       Register a ── Tick 1 ── … changes … ── Tick 2 ── Register b
    sys_*     as of a       as of 1                  as of 2   as of b      nothing in between

Law:        a function of the log prefix alone: how the log is cut into batches and where the lane
            restarts does not show. No clock is read: what costs time comes through the log.
When:       at ticks, and where somebody begins to look: registrations, interests, questions.
Law:        a view that reads sys relations is not counted in them. So no answer about the engine
            moves because it was given, and a quiescent engine's answers are quiescent.
Absent:     any work for relations that nobody reads.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from aspen.model.delta import Delta, delta_in, delta_out, merge, negate
from aspen.model.schema import Row
from aspen.runtime.interests import Interests
from aspen.runtime.own_relations import (
    SYS_ARRANGEMENTS,
    SYS_COSTS,
    SYS_OPERATORS,
    SYS_QUERIES,
)
from aspen.runtime.view import WAITING, View
from aspen.runtime.views import Views
from aspen.views.choose import estimate
from aspen.views.circuit import Circuit
from aspen.views.node import Node
from aspen.views.operators.scan import ScanOperator
from aspen.views.operators.window import WindowOperator

Address = tuple[str, int]
"""Where an operator stands: the first view that uses it, and its number on the way down."""


class System:
    """The system relations of one lane; see the module's head."""

    def __init__(self, views: Views, circuit: Circuit, interests: Interests) -> None:
        self._views = views
        self._circuit = circuit
        self._interests = interests
        self._lane = views.assignments.share.number
        self._moved: dict[Node, Delta] = {}
        self.known = True
        """False in a lane that was made of what another one knew, until its first survey."""
        self._tell: Mapping[str, Callable[[], Iterable[Row]]] = {
            SYS_QUERIES.name: self._queries,
            SYS_OPERATORS.name: self._operators,
            SYS_ARRANGEMENTS.name: self._arrangements,
            SYS_COSTS.name: self._costs,
        }
        circuit.on_epoch = self._hear

    @property
    def due(self) -> bool:
        """Whether somebody reads a system relation, or nobody does any more."""
        return any(self._read(name) or self._circuit.sources[name].table for name in self._tell)

    def survey(self, also: Collection[str] = ()) -> None:
        """Bring the system relations that are read up to date, and empty the others.

        Call it between epochs; its changes belong to the coming one.

        Args:
            also: relations that are read in a moment.
        """
        self.known = True
        for name, tell in self._tell.items():
            source = self._circuit.sources[name]
            wanted = dict.fromkeys(tell(), 1) if name in also or self._read(name) else {}
            news = negate(source.table)
            merge(news, wanted)
            for row, weight in sorted(news.items(), key=lambda change: change[1]):
                self._circuit.change(source, row, weight)

    def passed(self) -> None:
        """Note that a tick has passed: changes are counted from here."""
        self._moved.clear()

    def dump(self) -> list[list[Any]]:
        """Returns what was counted since the last tick, for a snapshot."""
        addresses = self._addresses(self._views.by_name.values())
        return [
            [*addresses[node], delta_out(moved)]
            for node, moved in self._moved.items()
            if node in addresses
        ]

    def load(self, counted: Sequence[Sequence[Any]]) -> None:
        """Take over what was counted, once the views are open."""
        nodes = {
            address: node for node, address in self._addresses(self._views.by_name.values()).items()
        }
        for view, operator, moved in counted:
            if (view, operator) in nodes:
                self._moved[nodes[view, operator]] = delta_in(moved)

    def _read(self, name: str) -> bool:
        """Whether an operator reads a relation: the circuit itself is its one other user."""
        return self._circuit.sources[name].users > 1

    def _hear(self, moved: Sequence[Node]) -> None:
        if self._read(SYS_OPERATORS.name):
            for node in moved:
                if node.failure is None:
                    merge(self._moved.setdefault(node, {}), node.delta)

    def _counted(self) -> list[View]:
        """Returns the views that read no system relation."""
        return [view for view in self._views.by_name.values() if not view.monitors]

    def _addresses(self, views: Iterable[View]) -> dict[Node, Address]:
        """Returns each operator's address, views in the order of their names."""
        addresses: dict[Node, Address] = {}
        for view in sorted(views, key=lambda view: view.entry.view):
            if view.node is not None:
                for number, node in enumerate(_below(view.node)):
                    addresses.setdefault(node, (view.entry.view, number))
        return addresses

    def _queries(self) -> Iterator[Row]:
        first: dict[Node, str] = {}
        for name, view in sorted(self._views.by_name.items()):
            if view.node is not None:
                first.setdefault(view.node, name)
        for name, view in self._views.by_name.items():
            hidden = view.node is None or view.monitors
            sharing = view.entry.sharing if view.sharing is None else view.sharing.mode.value
            yield (
                name,
                _state(view),
                None if hidden else len(view.rows),
                view.entry.strategy,
                sharing,
                name if view.node is None else first[view.node],
                len(self._interests.held.get(name, ())),
                None if view.error is None else str(view.error["code"]),
                self._lane,
            )

    def _operators(self) -> Iterator[Row]:
        views = self._counted()
        uses: dict[Node, int] = {}
        for top in {view.node: len(self._sharers(view)) for view in views if view.node}.items():
            for node in _below(top[0]):
                uses[node] = uses.get(node, 0) + top[1]
        for node, (view, operator) in self._addresses(views).items():
            yield (
                view,
                operator,
                type(node).__name__.removesuffix("Operator"),
                _reads(node),
                node.kept(),
                uses[node],
                sum(self._changes(child) for child in node.inputs),
                self._changes(node),
                node.late if isinstance(node, WindowOperator) else 0,
                self._lane,
            )

    def _sharers(self, view: View) -> list[View]:
        assert view.node is not None
        return [other for other in self._views.on(view.node) if not other.monitors]

    def _changes(self, node: Node) -> int:
        return sum(map(abs, self._moved.get(node, {}).values()))

    def _arrangements(self) -> Iterator[Row]:
        for node, (view, operator) in self._addresses(self._counted()).items():
            for arrangement in node.arrangements.values():
                yield (
                    view,
                    operator,
                    _reads(node),
                    ",".join(map(str, arrangement.indices)),
                    sum(map(len, arrangement.index.values())),
                    arrangement.users,
                    self._lane,
                )

    def _costs(self) -> Iterator[Row]:
        known = self._views.known
        for view in self._counted():
            if view.part is not None and view.node is not None:
                estimated, rows = float(estimate(view.part, known)), len(view.rows)
                most, least = max(estimated, rows, 1.0), max(min(estimated, rows), 1.0)
                yield (view.entry.view, estimated, rows, most / least, self._lane)


def _state(view: View) -> str:
    if view.error is not None:
        return "waiting" if view.error["code"] in WAITING else "failed"
    if view.suspended:
        return "suspended"
    return "elsewhere" if view.node is None else "running"


def _below(top: Node) -> Iterator[Node]:
    """Returns an operator and all it rests on, each once, in an order of its plan alone."""
    met: set[Node] = set()
    waiting = [top]
    while waiting:
        node = waiting.pop()
        if node not in met:
            met.add(node)
            yield node
            waiting += reversed(node.inputs)


def _reads(node: Node) -> str:
    match node:
        case ScanOperator():
            # Parameters of a template are numbered by who came first, which no answer may show.
            return node.relation.name if not node.relation.name.startswith("parameters_") else ""
        case WindowOperator():
            return node.stream
        case _:
            return ""
