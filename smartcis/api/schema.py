"""How endpoints describe themselves, and what all of them do."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http.response import HttpResponseBase
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response

from smartcis.api.fields import body_of
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
        problems: statuses of problem bodies, besides too many requests.
        status: of the good answer.
    """
    body = success if success is not None else OpenApiResponse(description="Done.")
    return {
        status: body,
        **{
            (number, CONTENT_TYPE): OpenApiResponse(ProblemSerializer, description=TITLES[number])
            for number in sorted({*problems, TOO_MANY})
        },
    }


def endpoint(
    gives: Any,
    *problems: int,
    takes: type[serializers.Serializer[Any]] | None = None,
    status: int = 200,
    **described: Any,
) -> Callable[[Callable[..., Any]], Callable[..., HttpResponseBase]]:
    """Describes a view's method, checks the body before it and prints what it returns.

    Args:
        gives: serializer of what the method returns, None for nothing; a response stays as it is.
        problems: as for `answers`.
        takes: serializer of the body, whose fields the method gets behind the request.
        status: of the good answer.
        described: as for `extend_schema`.
    """
    many = isinstance(gives, serializers.ListSerializer)
    printed: Any = type(gives.child) if many else gives
    if takes is not None:
        described["request"] = takes

    def decorated(method: Callable[..., Any]) -> Callable[..., HttpResponseBase]:
        @wraps(method)
        def answered(self: Any, request: Request, **path: Any) -> HttpResponseBase:
            given = () if takes is None else (body_of(takes, request),)
            found = method(self, request, *given, **path)
            if isinstance(found, HttpResponseBase):
                return found
            return Response(None if printed is None else printed(found, many=many).data, status)

        described["responses"] = answers(gives, *problems, status=status)
        described_method: Callable[..., HttpResponseBase] = extend_schema(**described)(answered)
        return described_method

    return decorated


TOO_MANY = 429  # of any endpoint
READ = (404, 406)
SEND = (400, 406, 413, 415)
EDIT = (*SEND, 401, 403, 404)
