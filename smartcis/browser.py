"""Browsers: a stable token per Django session, to which routes and queries belong.

The session's own key changes at login; the token in the session's data does not.
"""

from __future__ import annotations

import secrets
from collections.abc import MutableMapping
from typing import Any, cast

from django.http import HttpRequest

KEY = "browser"


def browser_of(session: MutableMapping[str, Any]) -> str:
    """Returns the browser's token, empty when it has none yet."""
    return cast("str", session.get(KEY, ""))


def ensure_browser(request: HttpRequest) -> str:
    """Returns the browser's token, minted on first use."""
    if not browser_of(request.session):
        request.session[KEY] = secrets.token_urlsafe(18)
    return browser_of(request.session)


def group_of(browser: str) -> str:
    """Returns the name of the channel group of all sockets of a browser."""
    return f"browser.{browser}"
