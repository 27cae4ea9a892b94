"""Issue a token: for a gateway, for whoever watches the operation, or for an account's scripts."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.utils import timezone

from smartcis.models import AccessToken
from smartcis.models.tokens import ACCOUNT_DAYS, PUSH_DAYS, digest_of

BEGINNING = "smartcis-"  # by which a token is known where it should not stand


def issue_token(
    name: str,
    *,
    scope: str = AccessToken.Scope.PUSH,
    sources: Sequence[str] = (),
    user: AbstractBaseUser | None = None,
    days: float | None = None,
) -> tuple[AccessToken, str]:
    """Makes a token.

    Args:
        name: who will use it.
        scope: what it may do.
        sources: for which sources it pushes; none: readings alone.
        user: whose rights it has; for the scope `account`.
        days: how long it lives; None: a year, for an account 90 days.

    Returns:
        What is kept, and the token itself, which nobody can read again.

    Raises:
        ValidationError: it could do nothing, or for ever.
    """
    own = scope == AccessToken.Scope.ACCOUNT
    text = BEGINNING + secrets.token_urlsafe(32)
    if days is None:
        days = ACCOUNT_DAYS if own else PUSH_DAYS
    token = AccessToken(
        name=name,
        digest=digest_of(text),
        begins=text.removeprefix(BEGINNING)[:8],
        scope=scope,
        sources=list(sources),
        user=user if own else None,  # type: ignore[misc]  # accounts are Django's own
        expires_at=timezone.now() + timedelta(days=days),
    )
    if own and user is None:
        raise ValidationError({"user": "whose rights shall it have?"})
    token.full_clean()
    token.save()
    return token, text
