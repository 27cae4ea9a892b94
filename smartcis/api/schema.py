"""How endpoints describe themselves, and what all of them do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar

from django.http.response import HttpResponseBase
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiResponse, extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response

from smartcis.api.fields import body_of, no_body
from smartcis.api.problems import CONTENT_TYPE, ProblemSerializer

T = TypeVar("T", bound=Callable[..., Any])
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
    422: "Something else was sent under this idempotency key.",
    429: "Too many requests.",
    503: "The building's log or engine does not answer.",
}


TAGS = {
    "building": "The building as drawn.",
    "levels": "Floors and their plans.",
    "rooms": "Rooms, corridors, stairs and lifts.",
    "doors": "Doors, to lock and open.",
    "machines": "Computers people sit down at, with their software.",
    "kiosks": "Screens on the wall.",
    "sensors": "What is measured where.",
    "alarms": "What queries with OUTPUT TO ALARM raise; staff acknowledge, mute and assign it.",
    "reservations": "The calendar of the rooms.",
    "routes": "The walks of this browser.",
    "feeds": "Sources outside, and what gateways push.",
    "readings": "Readings that gateways push.",
    "sources": "Relations and views that queries name.",
    "queries": "StreamSQL queries, their rows, plans and provenance.",
    "visitors": "What others may see of a tag.",
    "house": "How the product is, who the client is, and the socket.",
}
VERBS = {"GET": "get", "POST": "add", "PUT": "replace", "PATCH": "change", "DELETE": "remove"}


class Described(AutoSchema):
    """Names operations after their paths, and says that all may be read without a token."""

    def get_auth(self) -> list[dict[str, Any]]:
        """Adds "no credentials" to the ways of reading."""
        ways: list[dict[str, Any]] = super().get_auth()
        if self.method in SAFE_METHODS and {} not in ways:
            ways.append({})
        return ways

    def get_tags(self) -> list[str]:
        """Returns the resource: the last word of the path that is one."""
        return [next((word for word in reversed(self._words()) if word in TAGS), "house")]

    def get_operation_id(self) -> str:
        """Returns verb and resource, e.g. listMachines, getMachine, changeLevel."""
        words = self._words()
        many = self._is_list_view()
        verb = "list" if many else VERBS[self.method]
        *before, last = [word.title().replace("-", "") for word in words]
        within = [_one_of(word) for word in before]
        return "".join((verb, *within, last if many else _one_of(last)))

    def _words(self) -> list[str]:
        """Returns the words of the path behind the version."""
        words = self.path.partition("/v1/")[2].split("/")
        return [word.partition(".")[0] for word in words if word and "{" not in word]

    def _is_list_view(self, serializer: Any = None) -> bool:
        """Looks at what a good answer is; the library may take a problem for it."""
        described: Any = self.get_response_serializers() if serializer is None else serializer
        if isinstance(described, dict) and 200 in described:  # noqa: PLR2004  # a status
            described = described[200]
        return bool(super()._is_list_view(described))


def _one_of(word: str) -> str:
    """Returns the singular of a resource's name."""
    if word == "Status":
        return word
    return f"{word[:-3]}y" if word.endswith("ies") else word.removesuffix("s")


def completed(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Says what tags mean, and of each body that it has no other fields; a hook of the library."""
    result["tags"] = [{"name": name, "description": said} for name, said in TAGS.items()]
    for name, described in result["components"]["schemas"].items():
        if name.endswith("Request") and described.get("type") == "object":
            described.setdefault("additionalProperties", False)
    return result


def answers(success: Any, *problems: int, status: int = 200) -> dict[Any, Any]:
    """Returns the `responses` of an endpoint.

    Args:
        success: serializer of the good answer, None for an empty one; of several media types, a
            mapping.
        problems: statuses of problem bodies, besides too many requests.
        status: of the good answer.
    """
    good: dict[Any, Any] = {status: success}
    if success is None:
        good = {status: OpenApiResponse(description="Done.")}
    elif isinstance(success, Mapping):
        good = {(status, media): one for media, one in success.items()}
    return {
        **good,
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
            if takes is None and request.method in TAKING:
                no_body(request)
            found = method(self, request, *given, **path)
            if isinstance(found, HttpResponseBase):
                return found
            return Response(None if printed is None else printed(found, many=many).data, status)

        described["responses"] = answers(gives, *problems, status=status)
        described_method: Callable[..., HttpResponseBase] = extend_schema(**described)(answered)
        return described_method

    return decorated


def shown(serializer: type[serializers.Serializer[Any]]) -> Callable[[T], T]:
    """Describes the answers of a listing and of one of its things."""
    return extend_schema_view(
        list=extend_schema(responses=answers(serializer(many=True), *READ)),
        retrieve=extend_schema(responses=answers(serializer, *READ)),
    )


TOO_MANY = 429  # of any endpoint
TAKING = ("POST", "PUT", "PATCH")
READ = (400, 404, 406)
SEND = (400, 406, 413, 415)
EDIT = (*SEND, 401, 403, 404)
