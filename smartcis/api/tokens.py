"""Tokens over HTTP: `Authorization: Bearer …`, or `Token …`; each opens what its scope names."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.utils import timezone
from rest_framework.authentication import TokenAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.request import Request

from smartcis.models import AccessToken
from smartcis.models.tokens import digest_of


class AccessTokens(TokenAuthentication):
    """Knows programs by their tokens.

    A token of an account acts as that account. Every other is nobody, and is refused wherever the
    view does not name its scope in `token_scopes`.
    """

    keyword = "Bearer"

    def authenticate(self, request: Request) -> Any:
        """Returns the account, or nobody, and the token; None where no token came."""
        if get_authorization_header(request)[:6].lower() == b"token ":
            self.keyword = "Token"
        found = super().authenticate(request)
        if found is None:
            return None
        token: AccessToken = found[1]
        view = request.parser_context["view"]
        if token.user is None and token.scope not in getattr(view, "token_scopes", ()):
            raise PermissionDenied(f"this token may {token.get_scope_display()}, and nothing else")
        return found

    def authenticate_credentials(
        self, key: str
    ) -> tuple[AbstractBaseUser | AnonymousUser, AccessToken]:
        """Returns the account behind a token, or nobody, and the token."""
        token = AccessToken.objects.select_related("user").filter(digest=digest_of(key)).first()
        if token is None:
            raise AuthenticationFailed("this token is unknown, or was revoked")
        if token.expires_at <= timezone.now():
            raise AuthenticationFailed(f"this token ended on {token.expires_at:%Y-%m-%d}")
        if token.user is not None and not token.user.is_active:
            raise AuthenticationFailed("the account of this token is switched off")
        token.note_use()
        return token.user or AnonymousUser(), token
