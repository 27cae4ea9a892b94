"""Bdd: Boolean functions as reduced ordered decision diagrams, from CUDD where the wheel has it.

A variable stands for one deletable base row and is true as long as the row is there; a function
over variables says on which rows a derived row rests. [LTZIL09] section IV.

References: R. E. Bryant, "Graph-based algorithms for Boolean function manipulation", IEEE Trans.
Computers C-35 (1986); F. Somenzi, "CUDD: CU decision diagram package"; dd by the TuLiP project.
"""

from __future__ import annotations

import logging
from collections.abc import Hashable, Iterable
from types import ModuleType
from typing import Any

from dd import autoref

try:
    from dd import cudd
except ImportError:  # the wheel of a rare platform: pure Python, same answers
    cudd = None

Function = Hashable
"""A Boolean function, opaque outside its manager; equal functions are equal objects."""

Variable = int

# One line per manager would be one per recursive view and question.
logging.getLogger("dd.cudd").setLevel(logging.WARNING)

# CUDD grows both; by default the cache costs 58 ms and 16 MB per manager, and a reserve for bad
# times, a 64th of the memory estimated, 16 MB and 5 ms more.
_CACHE_SLOTS, _MEMORY_BYTES = 4096, 64 << 20


class Bdd:
    """A manager of monotone functions over reusable variables.

    `true` is the function of a row that rests on nothing deletable, `false` that of a row that is
    not there.

    A new variable goes nearest the root: a path's newest edge then sits on top of the path's
    function, and `path ∧ edge` makes one node. Released variables are reused, at their old level.

    Args:
        backend: `dd.cudd` or `dd.autoref`; the fastest there is when left out.

    Law: absorption, `disjoin(a, conjoin(a, b)) == a`; functions of different managers never mix.
    Source: [LTZIL09] section VI for why order matters; own for newest-on-top.
    """

    def __init__(self, backend: ModuleType | None = None) -> None:
        chosen = backend or cudd or autoref
        self._fast = chosen is not autoref
        sizes = {"initial_cache_size": _CACHE_SLOTS, "memory_estimate": _MEMORY_BYTES}
        self._bdd: Any = chosen.BDD(**sizes) if self._fast else chosen.BDD()
        # The engine keeps the order; sifting in the middle of an epoch would be a pause.
        self._bdd.configure(reordering=False)
        self.true: Function = self._bdd.true
        self.false: Function = self._bdd.false
        self._count = 0
        self._free: list[Variable] = []

    def __del__(self) -> None:
        # The collector may take us apart in any order; CUDD wants functions to go first.
        self.true = self.false = None

    def allocate(self) -> Variable:
        """Returns a variable that no live function mentions."""
        if self._free:
            return self._free.pop()
        variable = self._count
        self._count += 1
        if self._fast:
            self._bdd.insert_var(f"v{variable}", 0)
        else:
            self._bdd.declare(f"v{variable}")
        return variable

    def release(self, variable: Variable) -> None:
        """Take a variable back; no live function may mention it."""
        self._free.append(variable)

    def literal(self, variable: Variable) -> Function:
        """Returns the function that is true exactly when the variable is."""
        function: Function = self._bdd.var(f"v{variable}")
        return function

    def conjoin(self, left: Any, right: Any) -> Function:
        """Returns `left ∧ right`."""
        function: Function = left & right
        return function

    def disjoin(self, left: Any, right: Any) -> Function:
        """Returns `left ∨ right`."""
        function: Function = left | right
        return function

    def without(self, function: Any, dead: Iterable[Variable]) -> Function:
        """Returns the function with the dead variables set false."""
        restricted: Function = self._bdd.let({f"v{variable}": False for variable in dead}, function)
        return restricted

    def support(self, function: Any) -> tuple[Variable, ...]:
        """Returns the variables the function really depends on, ascending."""
        return tuple(sorted(int(name[1:]) for name in self._bdd.support(function)))

    def branches(self, function: Any) -> tuple[Variable, Function, Function]:
        """Split a non-constant function at its topmost variable: (variable, false, true)."""
        low, high = function.low, function.high
        if function.negated:
            low, high = ~low, ~high
        return int(function.var[1:]), low, high

    def size(self, function: Any) -> int:
        """Count the decision nodes of one function."""
        return int(function.dag_size) if self._fast else len(function)

    def live_variables(self) -> int:
        """Count variables allocated and not released."""
        return self._count - len(self._free)

    def live_nodes(self) -> int:
        """Count decision nodes in use, over all functions."""
        if not self._fast:
            self._bdd.collect_garbage()
        return len(self._bdd)
