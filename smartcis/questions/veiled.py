"""Veiled: views for everybody over what tells where people are; their reasons are not told.

A view that gives a room away keeps the walking point back. Its reasons would tell the point, and so
would what is missing for another answer, what it hangs on, and what would come of another corridor.
"""

from __future__ import annotations

from smartcis.access.grants import Forbidden, Grant
from smartcis.compiling.live_catalog import behind
from smartcis.personal import PERSONAL


class Veiled(Forbidden, code="smartcis.why.veiled"):
    """A question whose answer would tell where a person is."""


def is_veiled(granted: Grant) -> bool:
    """Returns whether a view for everybody reads relations about where people are."""
    if granted.private:
        return False
    return not PERSONAL.isdisjoint(behind([granted.view]))


def refuse_veiled(granted: Grant) -> None:
    """Refuses a question whose answer would tell where a person is.

    Raises:
        Veiled: the view rests on that, and gives away only what people allow.
    """
    if is_veiled(granted):
        raise Veiled(
            f"{granted.view} shows of people what they allow, and no more",
            found=granted.view,
            attempt="staff may query rfid_reading; each time is noted",
        )
