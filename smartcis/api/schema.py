"""How endpoints describe themselves beyond what drf-spectacular reads from them."""

from __future__ import annotations

from typing import Any

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiResponse
from rest_framework.permissions import SAFE_METHODS

from smartcis.api.problems import CONTENT_TYPE, ProblemSerializer

TITLES = {
    400: "The request is not well formed, or its query is not.",
    401: "A token or a login is needed.",
    403: "Not allowed.",
    404: "No such thing.",
    405: "Not this method.",
    406: "Not this media type.",
    409: "Not in this state.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    429: "Too many requests.",
    503: "The building's log or engine does not answer.",
}


class Described(AutoSchema):
    """Says that everything may be read without a token."""

    def get_auth(self) -> list[dict[str, Any]]:
        """Adds "no credentials" to the ways of reading."""
        ways: list[dict[str, Any]] = super().get_auth()
        if self.method in SAFE_METHODS and {} not in ways:
            ways.append({})
        return ways


def answers(success: Any, *problems: int, status: int = 200) -> dict[Any, Any]:
    """Returns the `responses` of an endpoint.

    Args:
        success: serializer of the good answer, None for an empty one.
        problems: statuses of problem bodies.
        status: of the good answer.
    """
    body = success if success is not None else OpenApiResponse(description="Done.")
    return {
        status: body,
        **{
            (number, CONTENT_TYPE): OpenApiResponse(ProblemSerializer, description=TITLES[number])
            for number in problems
        },
    }


READ = (404, 406)
SEND = (400, 406, 413, 415)
EDIT = (*SEND, 401, 403, 404)
