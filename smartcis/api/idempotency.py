"""Idempotency: a call that is repeated under its key appends nothing twice."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from aspen.errors import AspenError

KEY_LENGTH = 100

KEY = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    description="repeat a call under the same key and nothing is appended twice",
)


def key_of(request: Request, refusal: type[AspenError]) -> str:
    """Returns the key of a call, empty if it has none.

    Args:
        refusal: how this call says no to what was handed in.

    Raises:
        refusal: the key is too long, or not ASCII.
    """
    key = request.headers.get("Idempotency-Key", "")
    if len(key) > KEY_LENGTH or not key.isascii():
        raise refusal(
            "the idempotency key is too long or not ASCII",
            found=f"{len(key)} characters",
            exists=[f"up to {KEY_LENGTH}"],
        )
    return key
