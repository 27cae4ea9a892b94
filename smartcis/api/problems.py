"""Problems: every error leaves the API as application/problem+json with the same fields."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import redis
import structlog
from django.core.exceptions import PermissionDenied
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from kombu.exceptions import OperationalError as BrokerAway
from rest_framework import exceptions, serializers
from rest_framework.response import Response
from rest_framework.views import exception_handler

from aspen.errors import AspenError
from aspen.log.base import KeyReused
from smartcis.access.grants import Forbidden, NoSuchView
from smartcis.actions.look_at_rows import QueryEnded
from smartcis.api.fields import texts
from smartcis.errors import (
    AlreadyThere,
    BodyTooLarge,
    ComeBack,
    Conflict,
    NotFound,
    QuotaReached,
    Refused,
    Unavailable,
)
from smartcis.questions.asking import CannotSay, NoAnswer
from smartcis.questions.once import NotAnswered
from smartcis.sentences import in_words
from smartcis.services.metrics import REFUSALS
from smartcis.wrappers.errors import LogAway

CONTENT_TYPE = "application/problem+json"


STATUSES: tuple[tuple[type[AspenError], int], ...] = (
    (NotFound, 404),
    (NoSuchView, 404),
    (Refused, 403),
    (Forbidden, 403),
    (QuotaReached, 409),  # the state of the owner's queries, not the rate of requests
    (AlreadyThere, 409),
    (CannotSay, 409),
    (Conflict, 409),
    (NotAnswered, 409),
    (QueryEnded, 409),
    (KeyReused, 422),
    (NoAnswer, 503),
    (LogAway, 503),
    (Unavailable, 503),
    (BodyTooLarge, 413),
    (ComeBack, 429),
    (AspenError, 400),
)
MESSAGE_LENGTH = 1_000
RETRY_S = 5
WORTH_REPEATING = (HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS)
logger = structlog.get_logger(__name__)


class PositionSerializer(serializers.Serializer[Any]):
    """Where in a query's text."""

    line = serializers.IntegerField(min_value=1)
    column = serializers.IntegerField(min_value=1)
    length = serializers.IntegerField(min_value=1)


class ErrorSerializer(serializers.Serializer[Any]):
    """What every error of this product says."""

    code = serializers.CharField(help_text="stable, e.g. aspen.bind.unknown_column")
    message = serializers.CharField()
    position = PositionSerializer(allow_null=True)
    found = serializers.CharField(allow_blank=True)
    exists = texts()

    def get_fields(self) -> dict[str, Any]:
        """Adds `try`, which is no name in Python."""
        return {**super().get_fields(), "try": serializers.CharField(allow_blank=True)}


class ProblemSerializer(ErrorSerializer):
    """An error as RFC 9457 has it."""

    type = serializers.CharField(help_text="urn:smartcis: and the code")
    title = serializers.CharField()
    status = serializers.IntegerField()
    retry_s = serializers.IntegerField(
        required=False, help_text="seconds until it may go; Retry-After says the same"
    )


def problem(status: int, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a problem body, in the language that is active."""
    return {
        "type": f"urn:smartcis:{fields['code']}",
        "title": _(HTTPStatus(status).phrase),
        "status": status,
        **in_words(fields),
    }


def status_of(error: AspenError) -> int:
    """Returns the HTTP status of an error."""
    return next(status for kind, status in STATUSES if isinstance(error, kind))


def answer_to(error: AspenError) -> tuple[int, dict[str, str], dict[str, Any]]:
    """Counts a refusal; returns its status, the headers that are its own, and its body."""
    REFUSALS.labels(error.code).inc()
    status = status_of(error)
    retry_s = error.retry_s if isinstance(error, ComeBack) else RETRY_S
    headers = {"Retry-After": str(retry_s)} if status in WORTH_REPEATING else {}
    return status, headers, problem(status, error.as_dict())


def unavailable(error: BaseException | None) -> Unavailable | None:
    """Returns what to say of the log or the database that fails, None of any other error."""
    if isinstance(error, redis.RedisError | BrokerAway):
        logger.error("redis unreachable", reason=str(error))
        return Unavailable("the building's log does not answer", attempt="again in a few seconds")
    if isinstance(error, OperationalError | InterfaceError):  # away, locked, or its disk is full
        logger.error("database refused", reason=str(error))
        return Unavailable("the database does not take this now", attempt="again in a few seconds")
    return None


def handle(error: Exception, context: dict[str, Any]) -> Response | None:
    """Translates an exception of a view; DRF's hook."""
    error = unavailable(error) or error
    if isinstance(error, AspenError):
        status, headers, body = answer_to(error)
        return Response(body, status, headers=headers, content_type=CONTENT_TYPE)
    if (
        isinstance(error, Http404)
        and context["request"].method not in context["view"].allowed_methods
    ):
        error = exceptions.MethodNotAllowed(context["request"].method)  # whatever `?format=` says
    answered = exception_handler(error, context)
    if answered is None:
        return None
    answered.data = problem(answered.status_code, _drf_fields(error, answered.data))
    answered.content_type = CONTENT_TYPE
    return answered


def _fields(code: str, message: str) -> dict[str, Any]:
    return AspenError(message[:MESSAGE_LENGTH]).as_dict() | {"code": code}


def _drf_fields(error: Exception, data: Any) -> dict[str, Any]:
    if isinstance(error, Http404):
        return _fields("smartcis.api.not_found", "there is nothing here")
    if isinstance(error, PermissionDenied):
        return _fields("smartcis.api.permission_denied", "you may not do this")
    assert isinstance(error, exceptions.APIException)
    code = f"smartcis.api.{error.default_code}"
    if isinstance(error, exceptions.ValidationError):
        fields = _fields(code, "; ".join(_sentences(data)))
        if isinstance(data, Mapping):
            fields["found"] = ", ".join(str(name) for name in data)
        return fields
    return _fields(code, str(error.detail))


def _sentences(data: Any, path: str = "") -> list[str]:
    """Flattens DRF's nested lists of messages."""
    if isinstance(data, Mapping):
        return [
            sentence
            for name, inner in data.items()
            for sentence in _sentences(inner, f"{path}.{name}" if path else str(name))
        ]
    if isinstance(data, list | tuple):
        return [sentence for inner in data for sentence in _sentences(inner, path)]
    return [f"{path}: {data}" if path else str(data)]


def plain_problem(status: int, code: str, message: str) -> JsonResponse:
    """Returns a problem outside DRF's views."""
    return JsonResponse(
        problem(status, _fields(code, message)), status=status, content_type=CONTENT_TYPE
    )


@csrf_exempt  # there is nothing that could be forged
def nothing_here(_request: HttpRequest, *_args: Any, **_kwargs: Any) -> HttpResponse:
    """Answers any unknown path below the API."""
    return plain_problem(404, "smartcis.api.not_found", "there is nothing here")
