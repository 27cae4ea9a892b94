"""Content security policy: a middleware, since Django 5.2 brings none."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase


def policy_text(policy: Mapping[str, Sequence[str]], nonce: str) -> str:
    """Prints a policy as the header wants it, `{nonce}` filled in."""
    return "; ".join(
        " ".join([directive, *(value.format(nonce=nonce) for value in values)])
        for directive, values in policy.items()
    )


class ContentSecurityPolicy:
    """Adds the header to every response and `request.csp_nonce` to every request."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answers the request, sealed with its own nonce."""
        nonce = secrets.token_urlsafe(16)
        request.csp_nonce = nonce  # type: ignore[attr-defined]
        response = self.get_response(request)
        policy = policy_text(settings.CONTENT_SECURITY_POLICY, nonce)
        response.headers.setdefault("Content-Security-Policy", policy)
        return response
