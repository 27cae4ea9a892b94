"""Function: what the table of scalar functions knows of one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from aspen.model.schema import Type


@dataclass(frozen=True, slots=True)
class Function:
    """One scalar function.

    Args:
        name: as StreamSQL spells it, in lower case.
        least: fewest arguments.
        most: most arguments, None for any number.
        accepts: types every argument may have; all arguments share one type, INT mixing with FLOAT.
        result: the type given, None for the arguments' common type.
        keeps_unit: whether the result carries the arguments' unit (which then must agree).
        strict: whether a null argument gives null without a call.
        call: what is computed.
        each: types per argument, where they need not share one; the last counts for all behind.
        total: whether it gives a value for all values.
    """

    name: str
    least: int
    most: int | None
    accepts: frozenset[Type]
    result: Type | None
    keeps_unit: bool
    call: Callable[..., Any]
    strict: bool = True
    each: tuple[frozenset[Type], ...] = ()
    total: bool = True
