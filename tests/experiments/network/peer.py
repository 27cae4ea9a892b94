"""Peer: what a query node is under every maintenance strategy.

A peer owns some vertices and keeps the view's rows (x, y) of these. Its join partner is the index
of edges (w, x) by x; what the join gives goes to the owner of w. All of a strategy is in how its
peers answer the few kinds of items; the rest is here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from tests.experiments.network.exchange import Exchange, Item
from tests.experiments.network.fact import Fact, Value, Vertex
from tests.experiments.network.partition import Owner


class Peer(ABC):
    """One query node.

    Args:
        me: its number.
        nodes: how many there are.
        owner: who owns which vertex.
        exchange: the channels.
    """

    diagrams: ClassVar[bool] = False
    """Whether annotations are functions of the manager, whose size depends on their order."""

    def __init__(self, me: int, nodes: int, owner: Owner, exchange: Exchange) -> None:
        self.me = me
        self.nodes = nodes
        self.owner = owner
        self.exchange = exchange
        self.handlers: dict[str, Callable[..., None]] = {
            "insert": self.insert,
            "delete": self.delete,
            "resume": self.resume,
        }
        self._local: deque[Item] = deque()
        self._items: dict[int, list[Item]] = {}
        self._bytes: dict[int, int] = {}

    @abstractmethod
    def settle(self) -> None:
        """Do what waits until everything heard in a turn is taken in; may post."""

    @abstractmethod
    def resume(self) -> None:
        """Begin the next phase of a batch, all channels being empty."""

    @abstractmethod
    def finish(self) -> None:
        """Forget what only this batch needed; no messages."""

    @abstractmethod
    def insert(self, fact: Fact, variable: int) -> None:
        """Hear, as the fact's home, that it holds."""

    @abstractmethod
    def delete(self, fact: Fact, variable: int) -> None:
        """Hear, as the fact's home, that it holds no longer."""

    @abstractmethod
    def rows(self) -> list[tuple[Vertex, Value]]:
        """Returns the view's rows kept here."""

    @abstractmethod
    def provenance_bytes(self) -> int:
        """Weigh the annotations of the view's rows kept here."""

    def annotated(self) -> int:
        """Count the rows whose annotations `provenance_bytes` weighs."""
        return len(self.rows())

    def shared_provenance_bytes(self) -> int:
        """Weigh the same as memory holds it, parts that several annotations share once."""
        return self.provenance_bytes()

    @abstractmethod
    def state_bytes(self) -> int:
        """Weigh everything kept here between batches; 0 exactly when nothing is kept."""

    def unfinished(self) -> bool:
        """Whether, with all channels empty, something is left to be done in a further phase."""
        return False

    def turn(self, items: Sequence[Item]) -> None:
        """Take in what has arrived at one instant, and send what follows from it."""
        local, handlers = self._local, self.handlers
        local.extend(items)
        while local:
            while local:
                item = local.popleft()
                handlers[item[0]](*item[1:])
            self.settle()
        for receiver, sent in self._items.items():
            self.exchange.send(self.me, receiver, sent, self._bytes[receiver])
        self._items.clear()
        self._bytes.clear()

    def post(self, receiver: int, item: tuple[Any, ...], size_bytes: int) -> None:
        """Say something to a node at the end of this turn; to oneself at once and for nothing."""
        if receiver == self.me:
            self._local.append(item)
        elif receiver in self._items:
            self._items[receiver].append(item)
            self._bytes[receiver] += size_bytes
        else:
            self._items[receiver] = [item]
            self._bytes[receiver] = size_bytes

    def tell_all(self, item: tuple[Any, ...], size_bytes: int) -> None:
        """Say something to every other node."""
        for node in range(self.nodes):
            if node != self.me:
                self.post(node, item, size_bytes)


def drop_empty(table: dict[Any, Any]) -> None:
    """Drop the parts of a table that hold nothing."""
    for key in [key for key, part in table.items() if not part]:
        del table[key]
