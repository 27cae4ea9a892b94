"""Whole numbers of 64 bits, and the error of those that came out larger."""

from __future__ import annotations

from typing import NoReturn

from aspen.errors import AspenError
from aspen.model.schema import INT_LEAST, INT_MOST, Value


class OutOfRange(AspenError, code="aspen.algebra.out_of_range"):
    """A whole number that came out larger than an INT holds."""


def refuse(what: str, *operands: Value) -> NoReturn:
    """Refuse what came out.

    Args:
        what: an operator between its operands, or a function before them.

    Raises:
        OutOfRange: always.
    """
    spelt = [str(one) for one in operands]
    raise OutOfRange(
        "a whole number came out that is larger than INT holds",
        found=f"{what}({', '.join(spelt)})" if what.isidentifier() else f" {what} ".join(spelt),
        exists=(f"{INT_LEAST} … {INT_MOST}",),
        attempt="compute with FLOAT (CAST(x AS FLOAT) first), or leave such rows out",
    )


def fits(value: int) -> bool:
    """Whether an INT holds a number."""
    return INT_LEAST <= value <= INT_MOST
