"""Circuit: one dataflow for all views of a lane; equal subplans are one node.

An epoch is: sources get changes, nodes step in order of height (only those whose inputs
changed), indexes move to the new state. What did not change costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from heapq import heappop, heappush

from aspen.errors import AspenError, as_aspen_error
from aspen.model.delta import Delta
from aspen.model.schema import Relation, Row
from aspen.views.node import Node
from aspen.views.operators.scan import ScanOperator
from aspen.views.operators.window import WindowOperator
from aspen.views.work import UNBOUNDED, Meter


class Circuit:
    """Nodes by identity, stepped together.

    `on_epoch` is called before an epoch ends, with the nodes that gave a delta or failed.

    Law: the result of an epoch does not depend on the order in which nodes were added.
    """

    def __init__(self) -> None:
        self.sources: dict[str, ScanOperator] = {}
        self._known: dict[Hashable, Node] = {}
        self._windows: dict[str, list[WindowOperator]] = {}
        self._dirty: list[tuple[int, int, Node]] = []
        self._queued: set[int] = set()
        self._serial = 0
        self._meter = Meter()
        self._most_steps: int | None = None
        self.on_epoch: Callable[[Sequence[Node]], None] | None = None

    def source(self, relation: Relation) -> ScanOperator:
        """Returns the table of a base relation, made at its first mention and kept for good."""
        known = self.sources.get(relation.name)
        if known is None:
            known = self.sources[relation.name] = ScanOperator(relation)
            known.users = 1
            known.identity = ("scan", relation.name)
        return known

    def find(self, identity: Hashable) -> Node | None:
        """Returns the node of an identity, if there is one; within bounds, it may do that much."""
        found = self._known.get(identity)
        if found is not None and self._most_steps is not None:
            self._widen(found, self._most_steps)
        return found

    @contextmanager
    def bounded(self, most_steps: int) -> Iterator[None]:
        """Let nodes that are added meanwhile, and questions, do so much work and no more.

        Args:
            most_steps: in one epoch each, and in all of what is done meanwhile; UNBOUNDED for any.
        """
        before, self._most_steps = self._most_steps, most_steps
        self._meter.begin(most_steps)
        try:
            yield
        finally:
            self._most_steps = before
            self._meter.begin(before or UNBOUNDED)

    def _widen(self, node: Node, most_steps: int) -> None:
        """Let a node and what it reads do as much as the one who uses them besides may ask."""
        if node.most_steps and (most_steps == UNBOUNDED or most_steps > node.most_steps):
            node.most_steps = most_steps
            for child in node.inputs:
                self._widen(child, most_steps)

    def share(self, node: Node, most_steps: int) -> None:
        """Let a node do the work of one more, and so on downwards to what anybody may use."""
        waiting, seen = [node], {id(node)}
        while waiting:
            one = waiting.pop()
            if one.most_steps:
                one.most_steps = one.most_steps + most_steps if most_steps else UNBOUNDED
                new = {id(child): child for child in one.inputs if id(child) not in seen}
                seen |= new.keys()
                waiting += new.values()

    def add(self, identity: Hashable, node: Node) -> None:
        """Add a node and build its state; it must not be in the circuit yet."""
        node.identity = identity
        node.meter, node.most_steps = self._meter, self._most_steps or UNBOUNDED
        self._known[identity] = node
        for child in node.inputs:
            child.users += 1
            child.consumers.append(node)
        if isinstance(node, WindowOperator):
            self._windows.setdefault(node.stream, []).append(node)
        node.start()

    def release(self, node: Node) -> None:
        """Say that one user of a node is gone; unused nodes are dropped, and so on downwards."""
        node.users -= 1
        self._drop_unused([node])

    def collect(self) -> None:
        """Drop every node nobody uses, e.g. those a failed compilation left."""
        self._drop_unused([node for node in list(self._known.values()) if not node.users])

    def _drop_unused(self, nodes: list[Node]) -> None:
        while nodes:
            node = nodes.pop()
            if node.users or node.dropped:
                continue
            node.dropped = True
            if self._known.get(node.identity) is node:
                del self._known[node.identity]
            node.stop()
            if isinstance(node, WindowOperator):
                self._windows[node.stream].remove(node)
            for child in node.inputs:
                child.users -= 1
                child.consumers.remove(node)
                nodes.append(child)

    def windows(self) -> Iterable[WindowOperator]:
        """Returns all windows."""
        return [window for windows in self._windows.values() for window in windows]

    def change(self, source: ScanOperator, row: Row, weight: int) -> bool:
        """Put a change of a base table into the coming epoch; False when it is refused."""
        if not source.change(row, weight):
            return False
        self._mark(source)
        return True

    def arrive(self, stream: str, at_s: float, rows: Sequence[Row]) -> None:
        """Put rows of a stream into the coming epoch."""
        for window in self._windows.get(stream, ()):
            if window.take(at_s, rows):
                self._mark(window)

    def pend(self, leaf: ScanOperator | WindowOperator, delta: Delta) -> None:
        """Put a leaf's rows into the coming epoch as they are; for hypothetical updates."""
        leaf.pend(delta)
        self._mark(leaf)

    def tick(self, now_s: float) -> None:
        """Let time pass."""
        for windows in self._windows.values():
            for window in windows:
                if window.tick(now_s):
                    self._mark(window)

    def step(self) -> list[Node]:
        """Run one epoch up to the outputs; `settle` must follow.

        Returns:
            The nodes that gave a delta or failed, in the order of their heights.
        """
        moved: list[Node] = []
        while self._dirty:
            _, serial, node = heappop(self._dirty)
            self._queued.discard(id(node))
            del serial
            failed = next((child.failure for child in node.inputs if child.failure), None)
            if failed is not None:
                self._fail(node, failed)
            else:
                self._try(node)
            if node.delta or node.failure:
                moved.append(node)
                for consumer in node.consumers:
                    self._mark(consumer)
        self._meter.begin(self._most_steps or UNBOUNDED)
        return moved

    def settle(self, moved: list[Node]) -> None:
        """End the epoch."""
        if self.on_epoch is not None:
            self.on_epoch(moved)
        for node in moved:
            if not node.failure:
                node.settle()

    def _try(self, node: Node) -> None:
        self._meter.begin(node.most_steps)
        try:
            node.delta = node.step()
        except Exception as error:  # noqa: BLE001 - one operator's failure must not stop the lane
            self._fail(node, as_aspen_error(error))

    def _fail(self, node: Node, error: AspenError) -> None:
        node.delta = {}
        node.failure = error
        # A later registration of the same plan must not find the broken state.
        if self._known.get(node.identity) is node:
            del self._known[node.identity]

    def _mark(self, node: Node) -> None:
        if id(node) not in self._queued and not node.failure:
            self._queued.add(id(node))
            self._serial += 1
            heappush(self._dirty, (node.height, self._serial, node))
