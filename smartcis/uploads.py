"""Uploads: who may send a body beyond the usual limit, and where."""

from __future__ import annotations

from io import BytesIO
from typing import Any, cast

from asgiref.sync import sync_to_async
from django.contrib.auth import get_user
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpResponse
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.views import APIView

from smartcis.access.grants import is_staff
from smartcis.api.tokens import AccessTokens

PATHS = ("/api/v1/imports/", "/admin/smartcis/buildingimport/add/")


async def allowed_bytes(scope: Any, limit_bytes: int, upload_bytes: int) -> int:
    """Returns how large a request's body may be.

    Args:
        scope: the request, whose body nobody has read.
        limit_bytes: of anybody's.
        upload_bytes: of a file that staff bring, whose length stands in the header.
    """
    if scope["path"] not in PATHS or scope["method"] != "POST":
        return limit_bytes
    told = dict(scope["headers"]).get(b"content-length", b"")
    if not told.isdigit() or int(told) <= limit_bytes:
        return limit_bytes
    staff = await sync_to_async(_from_staff, thread_sensitive=False)(scope)
    return upload_bytes if staff else limit_bytes


def _from_staff(scope: Any) -> bool:
    request = ASGIRequest(scope, cast("Any", BytesIO()))
    SessionMiddleware(lambda _: HttpResponse()).process_request(request)
    if is_staff(get_user(request)):
        return True
    try:
        found = AccessTokens().authenticate(Request(request, parser_context={"view": APIView()}))
    except APIException:
        return False
    return found is not None and is_staff(found[0])
