"""Borders here: the recursions of which this lane keeps what lies in its networks.

    arrived ─► inner ─► rows      the lane's part of the views
                  └──► leaving    what it sends the other lanes

Law:        what is to be sent is what would leave now, less what `Borders`
            knows to leave: so it is right whoever made the lane, and nothing is sent twice.
A lane that does not build a recursion (nobody looks, an operator failed) lets nothing leave.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Generic, TypeVar

from aspen.algebra.inline import inline
from aspen.algebra.plan import Plan
from aspen.algebra.subnetwork import INNER, Share
from aspen.log.superstep import Sent, Superstep
from aspen.model.delta import Delta, merge, negate
from aspen.runtime.borders import Borders
from aspen.views.circuit import Circuit
from aspen.views.node import Node
from aspen.views.operators.scan import ScanOperator

Guest = TypeVar("Guest")
Compile = Callable[[Plan], Node]


@dataclass(slots=True, eq=False)
class _Here(Generic[Guest]):
    """One recursion in this lane.

    Args:
        arrived: the border rows that came.
        leaving: those that would leave.
        unsent: what no superstep has had yet of their changes.
    """

    arrived: ScanOperator
    leaving: Node
    unsent: Delta
    guests: list[Guest] = field(default_factory=list)


class BordersHere(Generic[Guest]):
    """The recursions of one lane.

    Args:
        number: of the lane.
        known: what all lanes know, by recursion; as long as a view of it is registered.

    `supersteps` is the number of the newest superstep it has had.
    """

    def __init__(self, circuit: Circuit, number: int, known: Mapping[str, Borders]) -> None:
        self.supersteps = 0
        self.known = known
        self._circuit = circuit
        self._number = number
        self._here: dict[str, _Here[Guest]] = {}
        self._serial = count(1)

    @property
    def given(self) -> dict[str, Node]:
        """The tables of border rows that came, by the names plans have for them."""
        return {here.arrived.relation.name: here.arrived for here in self._here.values()}

    @property
    def quiescent(self) -> bool:
        """Whether this lane has nothing to send, and waits for nothing."""
        return not self.known or not (
            any(borders.waiting for borders in self.known.values()) or self.to_send()
        )

    def enter(self, name: str, share: Share, guest: Guest, build: Compile) -> None:
        """Build a recursion for a view, unless it is there; between epochs.

        Args:
            build: compiles a plan over `given`.
        """
        here = self._here.get(name)
        if here is not None and here.leaving.failure is None:
            here.guests.append(guest)
            return
        scan = ScanOperator(share.arrived)
        scan.table = self.known[name].arrived(self._number)
        scan.users = 1
        self._circuit.add(("arrived", next(self._serial)), scan)
        self._here[name] = made = _Here[Guest](scan, scan, {})
        try:
            made.leaving = build(inline(share.leaving, {INNER: share.inner}))
        except Exception:
            del self._here[name]
            self._circuit.release(scan)
            raise
        made.leaving.users += 1
        made.unsent = dict(made.leaving.contents())
        merge(made.unsent, self._retraction(name))
        made.guests = [guest, *(here.guests if here is not None else ())]
        if here is not None:
            self._release(here)

    def leave(self, name: str, guest: Guest) -> None:
        """Let a view go; with the last one what it was built for goes."""
        here = self._here[name]
        here.guests.remove(guest)
        if not here.guests:
            del self._here[name]
            self._release(here)

    def guests(self, node: Node) -> list[Guest]:
        """Returns the views whose border rows a node has."""
        return [
            guest for here in self._here.values() if here.leaving is node for guest in here.guests
        ]

    def moved(self, node: Node) -> None:
        """Note what an epoch changed of the rows that would leave."""
        for here in self._here.values():
            if here.leaving is node:
                merge(here.unsent, node.delta)

    def to_send(self) -> Sent:
        """Returns what this lane has to send the others."""
        found: dict[str, Delta] = {}
        for name in self.known:
            here = self._here.get(name)
            unsent = self._retraction(name) if here is None else here.unsent
            if unsent:
                found[name] = unsent
        return found

    def take(self, superstep: Superstep) -> None:
        """Take a superstep in; what came across the borders belongs to the coming epoch."""
        self.supersteps = superstep.number
        for name, borders in self.known.items():
            sent = [lane.get(name, {}) for lane in superstep.sent]
            if not any(sent) and not borders.waiting:
                continue
            mail = borders.take(sent)[self._number]
            here = self._here.get(name)
            if here is None:
                continue
            merge(here.unsent, negate(sent[self._number]))
            for row, weight in mail.items():
                self._circuit.change(here.arrived, row, weight)

    def _retraction(self, name: str) -> Delta:
        """Returns what takes back all that the others know to leave."""
        return dict.fromkeys(self.known[name].leaving[self._number].values(), -1)

    def _release(self, here: _Here[Guest]) -> None:
        self._circuit.release(here.leaving)
        self._circuit.release(here.arrived)
