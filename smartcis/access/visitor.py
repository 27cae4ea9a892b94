"""The visitor behind a secret code."""

from __future__ import annotations

from smartcis.errors import NotFound
from smartcis.models import Visitor


class UnknownCode(NotFound, code="smartcis.visitors.unknown_code"):
    """A code that belongs to no tag."""


def visitor_of(code: str) -> Visitor:
    """Returns the visitor whose secret code this is.

    Raises:
        UnknownCode: it is nobody's.
    """
    found = Visitor.objects.filter(code=code).first() if code else None
    if found is None:
        raise UnknownCode(
            "this code belongs to no tag", attempt="take the code from the tag's card"
        )
    return found
