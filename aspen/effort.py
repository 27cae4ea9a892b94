"""Effort: how much work one text may ask of whoever compiles it, before any row is looked at.

    … FROM a0 JOIN a1 JOIN … JOIN a500     Join of 1,842 columns: 2,000,000 steps are exceeded

A step is a rule that is tried at a node, a column of a new node, or a part of a new expression.
Steps are counted, not seconds: a text is refused everywhere or nowhere.

Law:    what is within its bounds has the plan it has without any.
Source: own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from aspen.errors import AspenError

MOST_STEPS = 2_000_000
"""Own choice: about 20 times what 64 joined tables take."""
_BETWEEN_PAUSES = 2_000


class TooComplex(AspenError, code="aspen.compile.too_complex"):
    """A text that means more than one text may: too many steps to a plan, or too large a plan."""


@dataclass(slots=True)
class _Effort:
    most: int
    left: int
    pause: Callable[[], None] | None
    until_pause: int = _BETWEEN_PAUSES


_CURRENT: ContextVar[_Effort | None] = ContextVar("effort", default=None)


@contextmanager
def effort(most: int = MOST_STEPS, pause: Callable[[], None] | None = None) -> Iterator[None]:
    """Bound the steps of what is compiled within; inside another such block, that one counts on.

    Args:
        pause: called now and then; it may let others go first, or refuse to go on.

    Raises:
        TooComplex: there are no more, or what is compiled is deeper than Python's stack.
    """
    if _CURRENT.get() is not None:
        yield
        return
    token = _CURRENT.set(_Effort(most, most, pause))
    try:
        yield
    except RecursionError as error:
        raise too_complex("it is nested too deeply", "operators above operators") from error
    finally:
        _CURRENT.reset(token)


def spend(steps: int, what: str) -> None:
    """Take steps.

    Args:
        what: is built or looked at, as an error names it.

    Raises:
        TooComplex: there are no more.
    """
    current = _CURRENT.get()
    if current is None:
        return
    current.left -= steps
    if current.left < 0:
        raise too_complex(f"it takes more than {current.most:,} steps to plan", what)
    current.until_pause -= steps
    if current.until_pause < 0 and current.pause is not None:
        current.until_pause = _BETWEEN_PAUSES
        current.pause()


def too_complex(reason: str, found: str) -> TooComplex:
    """Returns the refusal of a text."""
    return TooComplex(
        f"the query is too complex: {reason}",
        found=found,
        attempt="ask for less at once, or let parts of it be views of their own",
    )
