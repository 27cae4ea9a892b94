"""Content security policy: a middleware, since Django 5.2 brings none."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

Handler = Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]


def policy_text(policy: Mapping[str, Sequence[str]], nonce: str) -> str:
    """Prints a policy as the header wants it, `{nonce}` filled in."""
    return "; ".join(
        " ".join([directive, *(value.format(nonce=nonce) for value in values)])
        for directive, values in policy.items()
    )


class ContentSecurityPolicy:
    """Adds the header to every response and `request.csp_nonce` to every request."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response
        self.is_async = iscoroutinefunction(get_response)
        if self.is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        """Answers the request, sealed with its own nonce."""
        request.csp_nonce = secrets.token_urlsafe(16)  # type: ignore[attr-defined]
        if self.is_async:
            return self._later(request)
        response = self.get_response(request)
        assert isinstance(response, HttpResponseBase)
        return self._sealed(request, response)

    async def _later(self, request: HttpRequest) -> HttpResponseBase:
        response = await self.get_response(request)  # type: ignore[misc]
        return self._sealed(request, response)

    def _sealed(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        nonce: str = request.csp_nonce  # type: ignore[attr-defined]
        policy = policy_text(settings.CONTENT_SECURITY_POLICY, nonce)
        response.headers.setdefault("Content-Security-Policy", policy)
        return response
