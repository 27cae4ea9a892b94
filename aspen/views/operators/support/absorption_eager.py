"""Absorption, eager: a settled row carries the OR over all its derivations' products.

    derivations   d1        d2             flush           −p1
    held          p1        p1             p1 ∨ p2∧p3      p2∧p3     the row stays untouched
    used it       p1∧p4     p1∧p4          (p1 ∨ p2∧p3)∧p4

Law:        right after a flush an annotation is true iff its row is derivable from the input rows
            set true; between flushes it lacks derivations that came since.
Algorithm:  [LTZIL09] Alg. 1 and section V (eager): what MinShip holds back is forwarded every
            `size` derivations and every `interval` epochs; annotations that changed travel on
            until none changes. A deletion sets variables FALSE; a row falls when its annotation
            is, and settles again if a derivation waits that had not been flushed. Own: which of
            its derivations a row rests on is kept too, found by `proofs`.
State:      what Absorption keeps; premise -> the derivations that use it; derivations to flush.
Ends:       annotations only grow along a flush, and there are finitely many over its variables;
            the node budget ends it sooner.
"""

from __future__ import annotations

from collections.abc import Callable

from aspen.errors import AspenError
from aspen.model.schema import Row
from aspen.provenance.bdd import Function
from aspen.provenance.index import Annotation
from aspen.views.operators.min_ship import Group, Source
from aspen.views.operators.rules import Rules
from aspen.views.operators.support.absorption import Absorption
from aspen.views.operators.support.proofs import Proofs
from aspen.views.operators.support.support import Support

Derivation = tuple[Group, Source]


class AbsorptionEager(Absorption):
    """See the module's head.

    Args:
        size: derivations held back at most; None for any number.
        interval: epochs between flushes.
    """

    name = "absorption-eager"
    wants_offers = True

    def __init__(
        self,
        rules: Rules,
        nodes: int,
        notify: Callable[[AspenError], None],
        *,
        size: int | None = None,
        interval: int = 1,
    ) -> None:
        super().__init__(rules, nodes, notify)
        self.users: dict[Group, dict[Derivation, None]] = {}
        self.held_back: dict[Derivation, None] = {}
        self._proofs = Proofs(rules)
        self._size = size
        self._interval = interval
        self._epochs = 0
        self._offers = 0

    def offered(self, group: Group, source: Source) -> None:
        """Hold a derivation back, up to the next flush."""
        derivation = group, source
        for premise in self.rules.premises(source):
            self.users.setdefault(premise, {})[derivation] = None
        self.held_back[derivation] = None
        self._offers += 1
        if self._size is not None and self._offers >= self._size:
            self._flush()

    def retracted(self, group: Group) -> None:
        """Take a row's annotation off, and forget what used it: that is withdrawn next."""
        super().retracted(group)
        for head, source in self.users.pop(group, {}):
            self._forget(head, source)

    def withdrawn(self, group: Group, source: Source, row: Row) -> None:
        """Forget a derivation; doubt a group that rested on it."""
        self._forget(group, source)
        super().withdrawn(group, source, row)

    def doomed(self) -> list[Group]:
        """Set the variables of gone rows FALSE; give the rows whose annotation became so."""
        dead, manager = self.dead(), self.index.manager
        doomed: list[Group] = []
        for held in self.index.mentioning(dead):
            function = manager.without(held.function, dead)
            if function == manager.false:
                doomed += held.carriers
                continue
            left = self.index.of(function)
            for group in list(held.carriers):
                self._hold(group, left)
        return doomed

    def convicted(self, suspects: list[Group]) -> list[Group]:
        """Let the rows that stay rest on another derivation; give those that have none.

        There are none where an annotation is true, but for a row derived from a better row since
        it was annotated.
        """
        return self._proofs.refuted(suspects)

    def forget(self) -> None:
        """Forget the proofs, too."""
        super().forget()
        self._proofs.clear()

    def end(self) -> Support | None:
        """Flush when it is time."""
        self.forget()
        self._epochs += 1
        if self._epochs >= self._interval:
            self._epochs = 0
            self._flush()
        return super().end()

    def clear(self) -> None:
        """Take all annotations off, and forget the derivations."""
        super().clear()
        self.users.clear()
        self.held_back.clear()

    def close(self) -> None:
        """Let go of every function and derivation."""
        super().close()
        self.users.clear()
        self.held_back.clear()

    def _forget(self, head: Group, source: Source) -> None:
        derivation = head, source
        self.held_back.pop(derivation, None)
        for premise in self.rules.premises(source):
            users = self.users.get(premise)
            if users is not None:
                users.pop(derivation, None)
                if not users:
                    del self.users[premise]

    def _hold(self, group: Group, annotation: Annotation[Group]) -> None:
        self.index.drop(self.held[group], group)
        self.held[group] = annotation
        self.index.carry(annotation, group)

    def _flush(self) -> None:
        """OR the derivations held back into their rows' annotations, and let changes travel."""
        self._offers = 0
        early: dict[Derivation, None] = {}
        changed: dict[Group, None] = {}
        for head, source in self.held_back:
            if head.best is None:
                early[head, source] = None
            elif self._absorb(head, source):
                changed[head] = None
        self.held_back = early
        while changed and not self.spent:
            group = next(iter(changed))
            del changed[group]
            for head, source in self.users.get(group, ()):
                if head.best is not None and self._absorb(head, source):
                    changed[head] = None

    def _absorb(self, head: Group, source: Source) -> bool:
        """OR a derivation's product into a row's annotation; whether that changed it."""
        if self.spent or head.waiting.get(source) != head.best:
            return False
        held, index = self.held[head], self.index
        if held is index.true:
            return False
        function = index.manager.disjoin(held.function, self._function(source))
        if function == held.function:
            return False
        self._hold(head, index.of(function))
        return True

    def _function(self, source: Source) -> Function:
        """Returns the conjunction of what a derivation used, without making it an annotation."""
        self.check()
        manager = self.index.manager
        function = manager.true
        for premise in self.rules.premises(source):
            function = manager.conjoin(function, self.held[premise].function)
        for side, row in self.rules.taken(source):
            variable = self.variable(side, row)
            if variable is not None:
                function = manager.conjoin(function, manager.literal(variable))
        return function
