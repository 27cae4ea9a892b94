"""Parameters: a word behind the question mark that an endpoint does not describe is refused.

Law: what is taken is what the OpenAPI description of the endpoint names, from the same place.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import get_close_matches
from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.plumbing import ComponentRegistry
from drf_spectacular.settings import spectacular_settings

from aspen.errors import AspenError
from smartcis.api.fields import SHOWN_LENGTH
from smartcis.api.problems import CONTENT_TYPE, answer_to

PREFIX = "/api/v1/"


class UnknownParameter(AspenError, code="smartcis.api.unknown_parameter"):
    """A filter that nobody reads: the answer would not be what was asked for."""


class KnownParameters:
    """Refuses unknown parameters of the API before a view is asked."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answers the request."""
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Any, _args: object, _kwargs: object
    ) -> HttpResponse | None:
        """Answers with a problem what asks for something unknown."""
        if not request.GET or not request.path.startswith(PREFIX) or not hasattr(view, "cls"):
            return None
        method = "GET" if request.method == "HEAD" else str(request.method)
        route = request.resolver_match.route if request.resolver_match else ""
        known = known_parameters(view, f"/{route}", method)
        if known is None:
            return None
        for name in request.GET:
            if name not in known:
                status, headers, body = answer_to(_unknown(name, known))
                return JsonResponse(body, status=status, headers=headers, content_type=CONTENT_TYPE)
        return None


@cache
def known_parameters(view: Any, route: str, method: str) -> tuple[str, ...] | None:
    """Returns the names that an endpoint takes in a query string, None if it has no such method."""
    actions = getattr(view, "actions", None)
    handled = method.lower() in actions if actions else hasattr(view.cls, method.lower())
    if not handled or method == "OPTIONS":
        return None
    path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", route)
    library: Any = SchemaGenerator  # it has no types
    generator = library()  # what it makes lives as long as it does
    made = generator.create_view(view, method)
    made.request = spectacular_settings.GET_MOCK_REQUEST(method, path, made, None)
    described = made.schema.get_operation(path, path, "", method, ComponentRegistry())
    found = (described or {}).get("parameters", ())
    return tuple(sorted(one["name"] for one in found if one["in"] == "query"))


def _unknown(name: str, known: tuple[str, ...]) -> UnknownParameter:
    shown = name[:SHOWN_LENGTH].encode(errors="backslashreplace").decode()
    near = get_close_matches(shown, known, n=1, cutoff=0.5)
    return UnknownParameter(
        f"there is no parameter {shown!r} here",
        found=shown,
        exists=known,
        attempt=f"did you mean {near[0]}?" if near else "leave it out",
    )
