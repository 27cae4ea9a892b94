"""Pages: four shells for the front end, and what to say when there is none."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any

from django.contrib.admin.views.decorators import staff_member_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe

from smartcis.access.grants import is_staff
from smartcis.access.welcome import welcome
from smartcis.api.problems import CONTENT_TYPE, answer_to, plain_problem, unavailable
from smartcis.errors import LimitReached
from smartcis.models import Kiosk, Venue


@require_safe
@ensure_csrf_cookie
def map_page(request: HttpRequest) -> HttpResponse:
    """Shows the live map."""
    return _page(request, "map", "Live map")


@require_safe
@ensure_csrf_cookie
def queries_page(request: HttpRequest) -> HttpResponse:
    """Shows the query workbench."""
    return _page(request, "queries", "Queries")


@require_safe
@ensure_csrf_cookie
def kiosk_page(request: HttpRequest, kiosk_id: str) -> HttpResponse:
    """Shows the map as a kiosk shows it."""
    kiosk = Kiosk.objects.filter(pk=kiosk_id).first()
    if kiosk is None:
        raise Http404(f"there is no kiosk {kiosk_id}")
    return _page(request, "kiosk", kiosk.name, kiosk=kiosk_id)


@require_safe
@staff_member_required
@ensure_csrf_cookie
def editor_page(request: HttpRequest) -> HttpResponse:
    """Shows the plan to staff, to be drawn and repaired."""
    return _page(request, "editor", "Draw the building")


def _page(request: HttpRequest, page: str, title: str, *, kiosk: str = "") -> HttpResponse:
    # The socket opens after this answer and must know the browser, so the token is made here.
    with suppress(LimitReached):  # the page is shown all the same, and has no walks of its own
        welcome(request)
    venue = Venue.objects.first()
    context = {
        "page": page,
        "entry": f"src/{page}.ts",
        "title": title,
        "building": venue.name if venue is not None else "SmartCIS",
        "kiosk": kiosk,
        # A kiosk only reads: whoever stands before it must not act with a staff member's rights.
        "staff": is_staff(request.user) and not kiosk,
    }
    return render(request, "smartcis/page.html", context)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001  # Django's signature
    """Answers 404."""
    if request.path.startswith("/api/"):
        return plain_problem(404, "smartcis.api.not_found", "there is nothing here")
    return render(request, "smartcis/message.html", {"title": "Nothing here"}, status=404)


def failed(request: HttpRequest, *_args: Any) -> HttpResponse:
    """Answers 500, or 503 where the log or the database fails outside the API's own views."""
    error = unavailable(sys.exc_info()[1])
    if error is not None:
        status, headers, body = answer_to(error)
        if request.path.startswith("/api/"):
            return JsonResponse(body, status=status, headers=headers, content_type=CONTENT_TYPE)
        title = "The building cannot be shown for a moment"
        page = render_to_string("smartcis/message.html", {"title": title})  # asks no database
        return HttpResponse(page, status=status, headers=headers)
    if request.path.startswith("/api/"):
        return plain_problem(500, "smartcis.api.failed", "the server has failed; it is logged")
    return render(request, "smartcis/message.html", {"title": "The server has failed"}, status=500)
