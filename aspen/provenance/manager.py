"""Manager: what the engine needs of a Boolean function library.

A variable stands for one deletable base row and is true as long as the row is there; a function
over variables says on which rows a derived row rests. [LTZIL09] section IV.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import Protocol

Function = Hashable
"""A Boolean function, opaque outside its manager; equal functions are equal objects."""

Variable = int


class Manager(Protocol):
    """Canonical monotone Boolean functions over reusable variables.

    Law: absorption, `disjoin(a, conjoin(a, b)) == a`; functions of different managers never mix.
    """

    @property
    def true(self) -> Function:
        """The function of a row that rests on nothing deletable."""
        ...

    @property
    def false(self) -> Function:
        """The function of a row that is not there."""
        ...

    def allocate(self) -> Variable:
        """Returns a variable that no live function mentions."""
        ...

    def release(self, variable: Variable) -> None:
        """Take a variable back; no live function may mention it."""
        ...

    def arrange(self, variables: Sequence[Variable]) -> None:
        """Order variables, the first nearest the root; those not named come below them."""
        ...

    def literal(self, variable: Variable) -> Function:
        """Returns the function that is true exactly when the variable is."""
        ...

    def conjoin(self, left: Function, right: Function) -> Function:
        """Returns `left ∧ right`."""
        ...

    def disjoin(self, left: Function, right: Function) -> Function:
        """Returns `left ∨ right`."""
        ...

    def without(self, function: Function, dead: Iterable[Variable]) -> Function:
        """Returns the function with the dead variables set false."""
        ...

    def support(self, function: Function) -> Collection[Variable]:
        """Returns the variables the function really depends on, ascending."""
        ...

    def branches(self, function: Function) -> tuple[Variable, Function, Function]:
        """Split a non-constant function at its topmost variable: (variable, false, true)."""
        ...

    def size(self, function: Function) -> int:
        """Count the decision nodes of one function."""
        ...

    def live_variables(self) -> int:
        """Count variables allocated and not released."""
        ...

    def live_nodes(self) -> int:
        """Count decision nodes in use, over all functions."""
        ...
