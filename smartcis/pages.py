"""Pages: five shells for the front end, and what to say when there is none."""

from __future__ import annotations

import hashlib
import io
import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import segno
from django.conf import settings
from django.contrib.admin.views.decorators import staff_member_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import override
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe

from smartcis.access.grants import is_staff
from smartcis.access.welcome import welcome
from smartcis.api.problems import CONTENT_TYPE, answer_to, plain_problem, unavailable
from smartcis.compiling.query_title import title_of
from smartcis.errors import LimitReached
from smartcis.language import NAMED, named_language
from smartcis.models import Kiosk, MaintainedQuery, Venue
from smartcis.plan_picture import plan_picture

LONGEST_ADDRESS = 1_000
BUILD = "cd frontend\nnpm ci\nnpm run build"


@require_safe
@ensure_csrf_cookie
def map_page(request: HttpRequest) -> HttpResponse:
    """Shows the live map."""
    return _page(request, "map", _("Live map"))


@require_safe
@ensure_csrf_cookie
def queries_page(request: HttpRequest) -> HttpResponse:
    """Shows the query workbench."""
    return _page(request, "queries", _("Queries"))


@require_safe
@ensure_csrf_cookie
def query_page(request: HttpRequest, query_id: str) -> HttpResponse:
    """Shows what one query answers, to everybody who may read it."""
    query = MaintainedQuery.objects.select_related("view").filter(pk=query_id).first()
    if query is None or (query.view.private and not is_staff(request.user)):
        raise Http404(f"there is no query {query_id}")
    return _page(request, "query", title_of(query), query=query_id)


@require_safe
@ensure_csrf_cookie
def kiosk_page(request: HttpRequest, kiosk_id: str) -> HttpResponse:
    """Shows the map as a kiosk shows it, or the query that this one is for."""
    kiosk = Kiosk.objects.filter(pk=kiosk_id).first()
    if kiosk is None:
        raise Http404(f"there is no kiosk {kiosk_id}")
    if kiosk.query_id is not None:
        return _page(request, "query", kiosk.name, kiosk=kiosk_id, query=kiosk.query_id)
    return _page(request, "kiosk", kiosk.name, kiosk=kiosk_id)


@require_safe
@staff_member_required
@ensure_csrf_cookie
def editor_page(request: HttpRequest) -> HttpResponse:
    """Shows the plan to staff, to be drawn and repaired."""
    return _page(request, "editor", _("Draw the building"))


def _page(
    request: HttpRequest, page: str, title: str, *, kiosk: str = "", query: str = ""
) -> HttpResponse:
    if not _is_built():
        said = _("The pages are not built yet. Build them, and start the product again:")
        return _message(request, 503, _("There is no front end"), said=said, commands=BUILD)
    if page == "map":
        picture = plan_picture(request.GET.get("level", ""), request.GET.get("kiosk", ""))
    else:
        picture = plan_picture(kiosk_id=kiosk) if page == "kiosk" else None
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
        "query": query,
        "picture": picture,
        "staff": is_staff(request.user),
    }
    return render(request, "smartcis/page.html", context)


@require_safe
def offline_page(request: HttpRequest) -> HttpResponse:
    """Shows the map's shell without anybody's name: what opens where there is no network."""
    if not _is_built():
        return _message(request, 503, _("There is no front end"), commands=BUILD, plain=True)
    venue = Venue.objects.first()
    building = venue.name if venue is not None else "SmartCIS"
    shell = {"page": "map", "entry": "src/map.ts", "building": building, "unattended": True}
    with override(named_language(request)):
        context = {**shell, "title": _("Live map"), "picture": plan_picture()}
        return HttpResponse(
            render_to_string(
                "smartcis/page.html", context | {"request": {"csp_nonce": _nonce(request)}}
            )
        )


@require_safe
def manifest(request: HttpRequest) -> JsonResponse:
    """Describes the page to devices that install it."""
    venue = Venue.objects.first()
    icons = [
        {"src": static(f"smartcis/icon-{size}.png"), "sizes": f"{size}x{size}", "type": "image/png"}
        for size in (192, 512)
    ]
    icons.append(icons[1] | {"src": static("smartcis/icon-maskable.png"), "purpose": "maskable"})
    language = named_language(request)
    with override(language):
        description = _("The building, live: free machines, and the way there.")
    said = {
        "id": "/",
        "lang": language,
        "name": f"{venue.name} · SmartCIS" if venue is not None else "SmartCIS",
        "short_name": "SmartCIS",
        "description": description,
        "start_url": "/",
        "scope": "/",
        "display": "standalone",
        "background_color": "#e8ecf0",
        "theme_color": "#1d4ed8",
        "icons": icons,
    }
    return JsonResponse(said, content_type="application/manifest+json")


@require_safe
def service_worker(request: HttpRequest) -> HttpResponse:
    """Gives the script that opens pages without network, with the names of this build's files."""
    path = settings.FRONTEND_DIST / "manifest.json"
    built = path.read_text(encoding="utf-8") if path.exists() else "{}"
    parts: dict[str, dict[str, Any]] = json.loads(built)
    wanted = [name for name in ("src/map.ts", "src/kiosk.ts") if name in parts]
    files: set[str] = set()
    while wanted:
        part = parts[wanted.pop()]
        new = {part["file"], *part.get("css", ())} - files
        files |= new
        wanted += [*part.get("imports", ()), *part.get("dynamicImports", ())] if new else []
    context = {
        "version": hashlib.sha256(built.encode()).hexdigest()[:16],
        "language": request.LANGUAGE_CODE,
        "shell": f"{reverse('offline')}?{NAMED}={request.LANGUAGE_CODE}",
        "files": json.dumps(sorted(f"{settings.STATIC_URL}{name}" for name in files)),
    }
    text = render_to_string("smartcis/service_worker.js", context, request)
    answer = HttpResponse(text, content_type="text/javascript")
    answer["Cache-Control"] = "no-cache"
    return answer


@require_safe
def qr_code(request: HttpRequest) -> HttpResponse:
    """Draws the address of one of our pages, for a phone to take along."""
    to = request.GET.get("to", "/")
    if not to.startswith("/") or to.startswith("//") or len(to) > LONGEST_ADDRESS:
        return _message(request, 400, _("That did not work"), said=_("This is no page of ours."))
    address = settings.PUBLIC_URL + to if settings.PUBLIC_URL else request.build_absolute_uri(to)
    drawn = io.BytesIO()
    segno.make_qr(address, error="m").save(
        drawn, kind="svg", border=3, xmldecl=False, light="#fff", omitsize=True
    )
    answer = HttpResponse(drawn.getvalue(), content_type="image/svg+xml")
    answer["Cache-Control"] = "private, max-age=3600"
    return answer


def _is_built() -> bool:
    vite: dict[str, Any] = settings.DJANGO_VITE["default"]
    return bool(vite["dev_mode"]) or Path(vite["manifest_path"]).exists()


def malformed(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001  # Django's signature
    """Answers 400."""
    if request.path.startswith("/api/"):
        return plain_problem(400, "smartcis.api.malformed", "this request cannot be understood")
    said = _("Your browser sent something that cannot be understood.")
    return _message(request, 400, _("That did not work"), said=said, plain=True)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answers 403."""
    if request.path.startswith("/api/"):
        return plain_problem(403, "smartcis.api.forbidden", "this is not for you")
    said = str(exception) or _("Your account may not open this page.")
    signs_in = not request.user.is_authenticated
    return _message(request, 403, _("This is not for you"), said=said, signs_in=signs_in)


def forged(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answers 403 to a form that was not sent from a page of ours, or from one that is too old."""
    del reason
    if request.path.startswith("/api/"):
        return plain_problem(403, "smartcis.api.forged", "the CSRF token is missing or wrong")
    said = _(
        "Nothing was changed. You signed in or out since this page was opened, or the browser "
        "keeps no cookies for it. Go back, load the page again, and repeat what you did."
    )
    return _message(request, 403, _("This page was too old"), said=said)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001  # Django's signature
    """Answers 404."""
    if request.path.startswith("/api/"):
        return plain_problem(404, "smartcis.api.not_found", "there is nothing here")
    said = _("The address is mistyped, or what was here is gone.")
    return _message(request, 404, _("There is nothing here"), said=said)


def failed(request: HttpRequest, *_args: Any) -> HttpResponse:
    """Answers 500, or 503 where the log or the database fails outside the API's own views."""
    error = unavailable(sys.exc_info()[1])
    if error is not None:
        status, headers, body = answer_to(error)
        if request.path.startswith("/api/"):
            return JsonResponse(body, status=status, headers=headers, content_type=CONTENT_TYPE)
        said = _("It comes back by itself; try again in a minute.")
        title = _("The building cannot be shown for a moment")
        page = _message(request, status, title, said=said, plain=True)
        for name, value in headers.items():
            page.headers[name] = value
        return page
    if request.path.startswith("/api/"):
        return plain_problem(500, "smartcis.api.failed", "the server has failed; it is logged")
    said = _("It was our mistake and is in the log.")
    return _message(request, 500, _("The server has failed"), said=said, plain=True)


def _message(request: HttpRequest, status: int, title: str, **more: Any) -> HttpResponse:
    """Returns a page that says one thing; `plain` asks neither session nor database."""
    context = {"title": title, "status": status, **more}
    if more.get("plain"):
        context["request"] = {"csp_nonce": _nonce(request)}
        text = render_to_string("smartcis/message.html", context)
        return HttpResponse(text, status=status)
    return render(request, "smartcis/message.html", context, status=status)


def _nonce(request: HttpRequest) -> str:
    return str(getattr(request, "csp_nonce", ""))
