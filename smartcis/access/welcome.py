"""Welcome: a browser that comes for the first time gets its token; an address brings so many."""

from __future__ import annotations

from django.http import HttpRequest

from smartcis.access.limits import spend
from smartcis.access.owner import Owner
from smartcis.browser import browser_of, ensure_browser


def welcome(request: HttpRequest) -> None:
    """Makes sure that the browser has a token.

    Raises:
        LimitReached: it has none, and too many have come from its address in this minute.
    """
    if not browser_of(request.session):
        spend("browsers", Owner.of(request))
        ensure_browser(request)
