"""Why: the minimal sets of base rows a function asks for, and the rows it cannot do without.

Law:        every set of `minimal_sets` alone makes the function true, and none of its parts does;
            a variable is necessary iff it is in every set.
"""

from __future__ import annotations

from aspen.errors import AspenError
from aspen.provenance.bdd import Bdd, Function, Variable

MAX_SETS = 2_000
"""Sets listed at most; nobody reads more, and grids have exponentially many shortest paths."""

_Sets = tuple[frozenset[Variable], ...]


class TooManyReasons(AspenError, code="aspen.provenance.too_many_reasons"):
    """A row that holds for more reasons than can be listed."""


def minimal_sets(manager: Bdd, function: Function) -> _Sets:
    """Returns all minimal sets of variables that make a monotone function true, smallest first.

    Raises:
        TooManyReasons: more than MAX_SETS on the way.

    Source: A. Rauzy, "New algorithms for fault trees analysis" (1993), for monotone functions.
    """
    known: dict[Function, _Sets] = {
        manager.false: (),
        manager.true: (frozenset(),),
    }
    found = _minimal(manager, function, known)
    return tuple(sorted(found, key=lambda members: (len(members), sorted(members))))


def _minimal(manager: Bdd, function: Function, known: dict[Function, _Sets]) -> _Sets:
    done = known.get(function)
    if done is not None:
        return done
    variable, absent, present = manager.branches(function)
    without = _minimal(manager, absent, known)
    having = tuple(
        members | {variable}
        for members in _minimal(manager, present, known)
        if not any(smaller <= members for smaller in without)
    )
    if len(without) + len(having) > MAX_SETS:
        raise TooManyReasons(f"more than {MAX_SETS} minimal sets")
    known[function] = without + having
    return known[function]


def necessary(manager: Bdd, function: Function) -> frozenset[Variable]:
    """Returns the variables without which the function is false: single points of failure."""
    return frozenset(
        variable
        for variable in manager.support(function)
        if manager.without(function, (variable,)) == manager.false
    )
