"""Circuit: one dataflow for all views of a lane; equal subplans are one node.

An epoch is: sources get changes, nodes step in order of height (only those whose inputs
changed), indexes move to the new state. What did not change costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from heapq import heappop, heappush

from aspen.errors import AspenError, as_aspen_error
from aspen.model.delta import Delta
from aspen.model.schema import Relation, Row
from aspen.views.accounts import ROW_BYTES, OwnerAccount
from aspen.views.budgets import Budget, Payers
from aspen.views.node import Node
from aspen.views.operators.scan import ScanOperator
from aspen.views.operators.window import WindowOperator
from aspen.views.work import UNBOUNDED, Meter, WorkExceeded

Ask = Callable[[int, str], None]
SECONDS_AT_ONCE = 10
"""An epoch that takes in more seconds does the work of so many."""
ACCOUNTS_KEPT = 1_000
"""So many accounts are kept before those that were not used lately are forgotten."""
MOVED_STEPS = 5
"""Of work in a row that is supposed to come or go, and is taken back."""
WEIGHED_ROWS = 1_000
"""So many rows may move before it is counted again what an operator holds."""


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
        self.meter = Meter()
        self._house = self._served = Budget()
        self._strict = False
        self._at_work = Payers()
        self._ask = self._ask_owners
        self._within: frozenset[Node] | None = None
        self._now_s = self._passed_s = 0.0
        self._took = self._may_suppose = 0
        self._seconds = 1
        self.accounts: dict[str, OwnerAccount] = {}
        self.exceeded: list[tuple[Budget, WorkExceeded]] = []
        self.on_epoch: Callable[[Sequence[Node]], None] | None = None

    def source(self, relation: Relation) -> ScanOperator:
        """Returns the table of a base relation, made at its first mention and kept for good."""
        known = self.sources.get(relation.name)
        if known is None:
            known = self.sources[relation.name] = ScanOperator(relation)
            known.users = 1
            known.payers.add(self._house)
            known.identity = ("scan", relation.name)
        return known

    def find(self, identity: Hashable) -> Node | None:
        """Returns the node of an identity, if there is one; it works for who is served, too."""
        found = self._known.get(identity)
        if found is not None and not self._served.passing and self._served is not self._house:
            self.pay(found, self._served)
        return found

    def budget(self, view: str, steps: int, most_bytes: int, owner: str) -> Budget:
        """Returns what a query may do, on the account of its owner; an empty one has none."""
        account = self.account(owner) if steps else None
        return Budget(view, steps, most_bytes, account)

    def account(self, owner: str) -> OwnerAccount | None:
        """Returns an owner's account; of nobody, none."""
        if not owner:
            return None
        if owner not in self.accounts and len(self.accounts) >= ACCOUNTS_KEPT:
            for name, known in list(self.accounts.items()):
                if known.idle(self._now_s):
                    del self.accounts[name]
        return self.accounts.setdefault(owner, OwnerAccount())

    def accounts_out(self) -> dict[str, list[list[float]]]:
        """Returns what owners took and is not forgotten yet, for a snapshot."""
        now_s = self._now_s
        return {
            owner: one.dump()
            for owner, one in self.accounts.items()
            if one.begun.owed(now_s) or one.kept.owed(now_s)
        }

    def accounts_in(self, taken: Mapping[str, list[list[float]]]) -> None:
        """Let owners have taken what a snapshot says."""
        for owner, state in taken.items():
            self.accounts.setdefault(owner, OwnerAccount()).load(state)

    @contextmanager
    def serving(
        self, budget: Budget, most: int | None = None, ask: Ask | None = None
    ) -> Iterator[Meter]:
        """Let nodes that are added or found meanwhile work for a budget, and no more be done.

        Args:
            most: steps; the budget's if left out.
            ask: called now and then with the steps taken and by what; it may raise.
        """
        before, strict = self._served, self._strict
        with self.meter.apart():
            self._served, self._strict = budget, True
            self.meter.begin(budget.steps if most is None else most, ask)
            try:
                yield self.meter
            finally:
                self._served, self._strict = before, strict

    @contextmanager
    def beginning(self, budget: Budget, *, trusted: bool = False) -> Iterator[None]:
        """Let nodes be built for a query's first evaluation, on the account of its owner.

        Args:
            trusted: it was maintained until now, so it may take any number of steps.

        Raises:
            ShareExceeded: its owner's queries began with too much lately.
        """
        account, now_s = None if trusted else budget.account, self._now_s
        most = UNBOUNDED if trusted else budget.steps
        most = most if account is None else account.may_begin(now_s, most)
        with self.serving(budget, most) as meter:
            try:
                yield
            except WorkExceeded as error:
                if account is not None and most < budget.steps and meter.rest < 0:
                    refused = account.too_much_begun(now_s, budget.steps, error.found or "a query")
                    raise refused from error
                raise
            finally:
                if account is not None:
                    account.begun.take(min(meter.spent, most))

    @contextmanager
    def supposing(self, watched: Node) -> Iterator[frozenset[Node]]:
        """Let what is changed meanwhile, and taken back, reach a node and what it reads alone.

        Operators work within their own budgets, so that no question leaves one half-way; what
        they do is taken from the question's steps, which `meter` refuses when asked again.

        Returns:
            Those nodes.
        """
        below, waiting = {watched}, [watched]
        while waiting:
            new = set(waiting.pop().inputs) - below
            below |= new
            waiting += new
        strict, within, self._took = self._strict, frozenset(below), 0
        self._may_suppose = self.meter.rest
        try:
            with self.meter.apart():
                self._strict, self._within = False, within
                yield within
        finally:
            self._strict, self._within = strict, None
            self.meter.left -= self._took

    @property
    def supposed_enough(self) -> bool:
        """Whether what is supposed has taken all steps that the question has."""
        return self._took > self._may_suppose

    def pay(self, node: Node, budget: Budget) -> None:
        """Let a node and what it reads work for one more."""
        waiting = [node]
        while waiting:
            one = waiting.pop()
            if budget not in one.payers.budgets:
                one.payers.add(budget)
                budget.nodes[one] = None
                waiting += one.inputs

    def add(self, identity: Hashable, node: Node) -> None:
        """Add a node and build its state; it must not be in the circuit yet."""
        node.identity = identity
        node.meter = self.meter
        node.payers.add(self._served)
        self._served.nodes[node] = None
        self._known[identity] = node
        for child in node.inputs:
            child.users += 1
            child.consumers.append(node)
        if isinstance(node, WindowOperator):
            self._windows.setdefault(node.stream, []).append(node)
        node.start()
        if self._served.bytes:
            for held in (node, *node.inputs):
                if held.payers.most:
                    held.weigh()

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
            for budget in node.payers.budgets:
                del budget.nodes[node]
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

    def step(self, now_s: float = 0.0) -> list[Node]:
        """Run one epoch up to the outputs; `settle` must follow.

        Args:
            now_s: log time. An epoch that takes in many seconds may do the work of as many.

        Returns:
            The nodes that gave a delta or failed, in the order of their heights.
        """
        if now_s > self._now_s:
            passed_s = now_s - self._now_s if self._now_s else 1.0
            self._seconds = max(1, min(SECONDS_AT_ONCE, int(passed_s)))
            self._now_s, self._passed_s = now_s, passed_s
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
        if not self._strict:
            self.meter.begin(UNBOUNDED)
        return moved

    def settle(self, moved: list[Node]) -> None:
        """End the epoch."""
        if self.on_epoch is not None:
            self.on_epoch(moved)
        for node in moved:
            if node.failure:
                continue
            if node.payers.most and self._within is None:
                self._weigh(node)
            node.settle()

    def _weigh(self, node: Node) -> None:
        """See now and then whether what an operator works for holds too much."""
        node.moved_rows += len(node.delta)
        if node.moved_rows <= WEIGHED_ROWS + node.weighed_rows // 8:
            return
        node.weigh()
        for budget in node.payers.large(ROW_BYTES * node.weighed_rows):
            try:
                budget.check_held()
            except WorkExceeded as error:
                self.exceeded.append((budget, error))

    def _try(self, node: Node) -> None:
        meter, payers = self.meter, node.payers
        if not self._strict:
            self._at_work, most = payers, payers.most
            meter.begin(most * self._seconds, self._ask if most else None)
        try:
            node.delta = node.step()
        except Exception as error:  # noqa: BLE001 - one operator's failure must not stop the lane
            self._fail(node, as_aspen_error(error))
        if self._within is not None:
            self._took += meter.spent + MOVED_STEPS * len(node.delta)
        elif not self._strict:
            payers.charge(meter.spent)

    def _ask_owners(self, steps: int, what: str) -> None:
        """See whether the owners of the node at work have steps left."""
        self._at_work.ask(self._now_s, self._passed_s, steps, what)

    def _fail(self, node: Node, error: AspenError) -> None:
        node.delta = {}
        node.failure = error
        # A later registration of the same plan must not find the broken state.
        if self._known.get(node.identity) is node:
            del self._known[node.identity]

    def _mark(self, node: Node) -> None:
        if self._within is not None and node not in self._within:
            return
        if id(node) not in self._queued and not node.failure:
            self._queued.add(id(node))
            self._serial += 1
            heappush(self._dirty, (node.height, self._serial, node))
