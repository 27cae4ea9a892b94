"""Index: the annotations in use, which rows carry each, and in which each variable occurs.

Equal functions are one annotation, so the hundreds of rows behind one door share it: a deletion
restricts each annotation once, however many rows carry it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Generic, TypeVar

from aspen.provenance.bdd import Bdd, Function, Variable

Carrier = TypeVar("Carrier")


class Annotation(Generic[Carrier]):
    """One function in use.

    Args:
        support: the variables it depends on.
        size: its decision nodes.
        carriers: the rows it annotates, in the order they came (a dict keeps the order that a
            set would take from memory addresses).
    """

    __slots__ = ("carriers", "function", "size", "support")

    def __init__(self, function: Function, support: Iterable[Variable], size: int) -> None:
        self.function = function
        self.support = tuple(support)
        self.size = size
        self.carriers: dict[Carrier, None] = {}


class AnnotationIndex(Generic[Carrier]):
    """All annotations of one recursive view.

    Law: after `sweep`, the index holds exactly the annotations some row carries, and the manager
    exactly the variables these mention.
    """

    def __init__(self, manager: Bdd) -> None:
        self.manager = manager
        self.true: Annotation[Carrier] = Annotation(manager.true, (), 0)
        self._known: dict[Function, Annotation[Carrier]] = {}
        self._mentioning: dict[Variable, dict[Annotation[Carrier], None]] = {}
        self._products: dict[tuple[Annotation[Carrier], Variable], Annotation[Carrier]] = {}
        self._doubtful: dict[Annotation[Carrier], None] = {}
        self._fresh: list[Variable] = []
        self._entries = 0

    def of(
        self, function: Function, support: Collection[Variable] | None = None
    ) -> Annotation[Carrier]:
        """Returns the annotation of a function; a new one must find a carrier before `sweep`.

        Args:
            support: the variables it depends on, ascending, if the caller knows. To tell, CUDD
                looks at every variable there is.
        """
        if function == self.manager.true:
            return self.true
        known = self._known.get(function)
        if known is None:
            manager = self.manager
            if support is None:
                support = manager.support(function)
            known = Annotation(function, support, manager.size(function))
            self._known[function] = known
            self._doubtful[known] = None
            self._entries += known.size + len(known.support)
            for variable in known.support:
                self._mentioning.setdefault(variable, {})[known] = None
        return known

    def times(self, annotation: Annotation[Carrier], variable: Variable) -> Annotation[Carrier]:
        """Returns `annotation ∧ variable`, remembered until the next sweep."""
        product = self._products.get((annotation, variable))
        if product is None:
            manager = self.manager
            function = manager.conjoin(annotation.function, manager.literal(variable))
            own = annotation.support
            # What a function does not depend on cannot be absorbed by it.
            both = None if variable in own else sorted((*own, variable))
            product = self.of(function, both)
            self._products[annotation, variable] = product
        return product

    def both(self, one: Annotation[Carrier], other: Annotation[Carrier]) -> Annotation[Carrier]:
        """Returns `one ∧ other`."""
        if one is self.true:
            return other
        if other is self.true or other is one:
            return one
        return self.of(self.manager.conjoin(one.function, other.function))

    def allocate(self) -> Variable:
        """Returns a fresh variable; `sweep` takes it back if no annotation came to mention it."""
        variable = self.manager.allocate()
        self._mentioning[variable] = {}
        self._fresh.append(variable)
        return variable

    def carry(self, annotation: Annotation[Carrier], carrier: Carrier) -> None:
        """Note that a row carries an annotation."""
        annotation.carriers[carrier] = None

    def drop(self, annotation: Annotation[Carrier], carrier: Carrier) -> None:
        """Note that a row no longer carries an annotation."""
        del annotation.carriers[carrier]
        if not annotation.carriers and annotation is not self.true:
            self._doubtful[annotation] = None

    def mentioning(self, dead: Iterable[Variable]) -> list[Annotation[Carrier]]:
        """Returns the annotations that mention one of the variables, each once."""
        found: dict[Annotation[Carrier], None] = {}
        for variable in dead:
            found.update(self._mentioning.get(variable, {}))
        return list(found)

    def sweep(self) -> list[Variable]:
        """Forget annotations nobody carries; give the variables that nothing mentions any more."""
        self._products.clear()
        touched = dict.fromkeys(self._fresh)
        self._fresh.clear()
        for annotation in self._doubtful:
            if annotation.carriers:
                continue
            self._known.pop(annotation.function, None)
            self._entries -= annotation.size + len(annotation.support)
            for variable in annotation.support:
                self._mentioning[variable].pop(annotation, None)
                touched[variable] = None
        self._doubtful.clear()
        gone = [variable for variable in touched if not self._mentioning[variable]]
        for variable in gone:
            del self._mentioning[variable]
            self.manager.release(variable)
        return gone

    def entries(self) -> int:
        """Returns the size of all annotations: their decision nodes, and mentions of variables.

        A node that two annotations share counts twice: counting the manager's takes as long as
        making a thousand annotations.
        """
        return self._entries

    def close(self) -> None:
        """Let go of every function, so that the manager can end before them."""
        for annotation in (self.true, *self._known.values()):
            annotation.function = None
            annotation.carriers.clear()
        self._known.clear()
        self._mentioning.clear()
        self._products.clear()
        self._doubtful.clear()

    def __del__(self) -> None:
        # The collector may take a lane apart in any order; CUDD wants functions to go first.
        self.close()

    def __len__(self) -> int:
        return len(self._known)
