"""Who pushes, and for which sources."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

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


def digest_of_call(key: str, *said: Any) -> str:
    """Returns a fingerprint of what is sent under a key, empty without one.

    Law: equal for equal JSON, however its objects are ordered and spaced.
    """
    text = json.dumps(said, sort_keys=True) if key else ""
    return hashlib.sha256(text.encode()).hexdigest() if key else ""
