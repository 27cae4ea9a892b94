"""Who pushes, and for which sources."""

from __future__ import annotations

from collections.abc import Sequence

from smartcis.access.owner import Owner
from smartcis.errors import Refused
from smartcis.models import AccessToken, Source


def pushing_sources(owner: Owner) -> Sequence[Source]:
    """Returns the sources that a gateway's token names, as far as they are read.

    Raises:
        Refused: this is neither staff nor a gateway, or none of its sources is read.
    """
    token = owner.token
    if token is None or token.scope != AccessToken.Scope.PUSH:
        if owner.staff:
            return ()
        raise Refused(
            "only gateways with a token, and staff, may push",
            attempt="send Authorization: Bearer …",
        )
    found = list(Source.objects.filter(kind="push", enabled=True, pk__in=token.sources))
    if token.sources and not found:
        raise Refused(
            "the sources of this token are gone or switched off",
            found=", ".join(token.sources),
            attempt="ask staff",
        )
    return found
