"""Seen as a visitor: requests that act with less than the account that is signed in.

a kiosk's page        whoever stands before it is a visitor, whatever cookie is there
view as a visitor     staff looks at the pages as others see them, until they end it
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest

KEY = "as_visitor"
KIOSK_PATH = "/kiosk/"


def is_as_visitor(session: Mapping[str, Any]) -> bool:
    """Returns whether the account of a session looks at pages as a visitor."""
    return bool(session.get(KEY))


def set_as_visitor(session: MutableMapping[str, Any], *, on: bool) -> None:
    """Begins or ends that."""
    if on:
        session[KEY] = True
    else:
        session.pop(KEY, None)


def is_of_kiosk(path: str, referrer: str, query: str = "") -> bool:
    """Returns whether a request is a kiosk's page, or was sent by one.

    Args:
        referrer: the page that sent it, as browsers say within one site.
        query: of a socket, which browsers open without saying from where: `kiosk`.
    """
    if path.startswith(KIOSK_PATH) or "kiosk" in parse_qs(query, keep_blank_values=True):
        return True
    try:
        return urlsplit(referrer).path.startswith(KIOSK_PATH)
    except ValueError:
        return False


@receiver(user_logged_in, dispatch_uid="smartcis.access.seen_as")
def _signed_in(request: HttpRequest, **_: Any) -> None:
    set_as_visitor(request.session, on=False)
