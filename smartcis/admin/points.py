"""Points: upload a Brick model or Haystack tags, look at what they say, accept, place devices.

The text travels along in the page, so that nothing is kept of one that nobody accepts.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from aspen.errors import AspenError
from smartcis.access.owner import Owner
from smartcis.actions.accept_proposals import accept_proposals
from smartcis.actions.describe_points import describe_points
from smartcis.actions.forget_points import forget_points
from smartcis.admin.marks import Page
from smartcis.importers.points.described import LARGEST_BYTES
from smartcis.models import DescribedPoint, SeenDevice, Source
from smartcis.sources.proposed import proposed_places

DOUBTS_SHOWN = 20


class PointsForm(forms.Form):
    """A description."""

    file = forms.FileField(
        label=_("Description"),
        help_text=format_lazy(
            _(
                "A Brick model in Turtle, or Haystack tags as JSON, of up to {bytes} bytes."
                " Nothing changes before you accept."
            ),
            bytes=LARGEST_BYTES,
        ),
    )


def points_page(request: HttpRequest, page: Page, source_id: str) -> HttpResponse:
    """Takes a description, shows what it says, keeps it, and places what it leaves no doubt of.

    Args:
        page: the admin of sources, which asks for permission.
    """
    source = get_object_or_404(Source, pk=source_id)
    if not page.has_change_permission(request, source):
        raise PermissionDenied
    owner, form = Owner.of(request), PointsForm()
    context: dict[str, Any] = {}
    if "place" in request.POST:
        done = accept_proposals(SeenDevice.objects.filter(source=source), owner)
        page.message_user(request, devices_placed(done.placed))
        context["doubts"] = done.doubts[:DOUBTS_SHOWN]
    elif "forget" in request.POST:
        count = forget_points(source.pk, owner)
        text = ngettext("%d point is forgotten.", "%d points are forgotten.", count)
        page.message_user(request, text % count)
    elif request.method == "POST":
        preview = "accept" not in request.POST
        said = PointsForm(request.POST, request.FILES)
        data = _brought(said) if preview else _kept(request)
        if data is None:
            form = said if preview else form
        else:
            context |= _read(request, page, source, data, preview=preview)
    devices = SeenDevice.objects.filter(source=source)
    proposals = proposed_places(devices.filter(unit=None, machine=None))
    context |= {
        **page.admin_site.each_context(request),
        "title": _("Points of %s") % source,
        "opts": page.opts,
        "source": source,
        "form": form,
        "kept": DescribedPoint.objects.filter(source=source).count(),
        "clear": sum(not one.doubt for one in proposals.values()),
        "proposed": len(proposals),
    }
    return TemplateResponse(request, "smartcis/points.html", context)


def devices_placed(count: int) -> str:
    """Returns that so many devices are placed."""
    return ngettext("%d device is placed.", "%d devices are placed.", count) % count


def _brought(form: PointsForm) -> bytes | None:
    return form.cleaned_data["file"].read(LARGEST_BYTES + 1) if form.is_valid() else None


def _kept(request: HttpRequest) -> bytes | None:
    try:
        return b64decode(request.POST.get("text", ""), validate=True) or None
    except ValueError:
        return None


def _read(
    request: HttpRequest, page: Page, source: Source, data: bytes, *, preview: bool
) -> dict[str, Any]:
    try:
        report = describe_points(source.pk, data, Owner.of(request), preview=preview)
    except AspenError as fault:
        page.message_user(request, fault.render(), messages.ERROR)
        return {}
    if not preview:
        count = len(report.points)
        page.message_user(
            request, ngettext("%d point is kept.", "%d points are kept.", count) % count
        )
    return {"report": report, "text": b64encode(data).decode() if preview else ""}
