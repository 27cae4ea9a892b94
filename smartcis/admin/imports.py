"""Imports of buildings: upload, look at the plan and at what was concluded, accept, undo."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from aspen.errors import AspenError
from smartcis.access.owner import Owner
from smartcis.actions.accept_import import accept_import
from smartcis.actions.begin_import import begin_import
from smartcis.actions.discard_import import discard_import
from smartcis.actions.undo_import import undo_import
from smartcis.admin.marks import Page, refuse
from smartcis.exporters.formats import EXPORTERS
from smartcis.importers.formats import IMPORTERS
from smartcis.models import BuildingImport

REFRESH_S = 2
MARGIN_M = 2.0
NOTES_SHOWN = 500
LETTER_M = 0.6
READY = BuildingImport.State.READY


class UploadForm(forms.Form):
    """A building's file."""

    file = forms.FileField(
        label=_("File"),
        help_text=format_lazy(
            _(
                "A file or a zip archive: {formats}."
                " The format is found by itself, and nothing changes before you accept."
            ),
            formats="; ".join(importer.name for importer in IMPORTERS),
        ),
    )
    add = forms.BooleanField(
        required=False,
        label=_("Add its building to those that are there"),
        help_text=_(
            "Both stay, and ways outdoors join them. Its file must say where on earth it is."
        ),
    )


@dataclass(frozen=True, slots=True)
class PlanUnit:
    """A unit as the page draws it.

    Args:
        path: of its outline, north up.
        title: what is said of it.
        kind: how it is drawn.
        label: empty where there is no room for one.
        x_m: of the label.
        y_m: of the label, down.
    """

    path: str
    title: str
    kind: str
    label: str
    x_m: float
    y_m: float


@dataclass(slots=True)
class PlanLevel:
    """A level as the page draws it.

    Args:
        box: of the drawing, left, top, width and height in metres, north up.
        marks: number and position of each note that has one.
    """

    name: str
    box: str
    units: list[PlanUnit]
    doors: Sequence[Mapping[str, Any]]
    entrances: Sequence[Mapping[str, Any]]
    marks: list[tuple[int, Mapping[str, Any]]] = field(default_factory=list)


@admin.register(BuildingImport)
class BuildingImportAdmin(Page):
    """Imports of buildings."""

    list_display = ("name", "state", "account", "at")
    list_filter = ("state",)
    change_list_template = "smartcis/imports.html"
    has_change_permission = refuse
    has_delete_permission = refuse

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Lists them, with the ways to take the building along."""
        context = {**(extra_context or {}), "exporters": EXPORTERS}
        return super().changelist_view(request, context)

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Takes a file."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        form = UploadForm(request.POST or None, request.FILES or None)
        if request.method == "POST" and form.is_valid():
            file = form.cleaned_data["file"]
            try:
                add = form.cleaned_data["add"]
                made = begin_import(file.name, file.chunks(), Owner.of(request), add=add)
            except AspenError as fault:
                form.add_error("file", fault.render())
            else:
                return HttpResponseRedirect(_page(made))
        context = {**self.admin_site.each_context(request), "title": _("Import a building")}
        context |= {"opts": self.opts, "form": form}
        return TemplateResponse(request, "smartcis/import_upload.html", context)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Shows what an import found, and takes the decision."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        one = get_object_or_404(BuildingImport, pk=object_id)
        if request.method == "POST":
            return self._decided(request, one)
        notes = (one.report or {}).get("notes", [])
        context = {
            **self.admin_site.each_context(request),
            "title": one.report["name"] if one.report else one.name,
            "opts": self.opts,
            "one": one,
            "report": one.report,
            "notes": list(enumerate(notes[:NOTES_SHOWN], start=1)),
            "more_notes": max(0, len(notes) - NOTES_SHOWN),
            "levels": list(_levels(one.plan or [], notes[:NOTES_SHOWN])),
            "ready": one.state == READY,
            "removable": one.state != BuildingImport.State.ACCEPTED and not one.busy,
        }
        answer = TemplateResponse(request, "smartcis/import.html", context)
        if one.busy:
            answer["Refresh"] = str(REFRESH_S)
        return answer

    def _decided(self, request: HttpRequest, one: BuildingImport) -> HttpResponse:
        owner = Owner.of(request)
        try:
            if "accept" in request.POST:
                accept_import(one.pk, owner, replace="replace" in request.POST)
            elif "undo" in request.POST:
                undo_import(one.pk, owner)
            elif "remove" in request.POST:
                discard_import(one.pk, owner)
                return HttpResponseRedirect(reverse("admin:smartcis_buildingimport_changelist"))
        except AspenError as fault:
            self.message_user(request, fault.render(), messages.ERROR)
        return HttpResponseRedirect(_page(one))


def _page(one: BuildingImport) -> str:
    return reverse("admin:smartcis_buildingimport_change", args=(one.pk,))


def _levels(
    plan: Sequence[Mapping[str, Any]], notes: Sequence[Mapping[str, Any]]
) -> Iterator[PlanLevel]:
    for level in plan:
        corners = [
            point
            for shape in (level["outline"], *(unit["shape"] for unit in level["units"]))
            for ring in shape
            for line in ring
            for point in line
        ]
        if not corners:
            continue
        left, right = min(x for x, _ in corners), max(x for x, _ in corners)
        bottom, top = min(y for _, y in corners), max(y for _, y in corners)
        width_m, height_m = right - left + 2 * MARGIN_M, top - bottom + 2 * MARGIN_M
        sides = (left - MARGIN_M, -top - MARGIN_M, width_m, height_m)
        yield PlanLevel(
            level["name"],
            " ".join(f"{one:.2f}" for one in sides),
            [_unit(unit) for unit in level["units"] if unit["shape"]],
            level["doors"],
            level["entrances"],
            [
                (number, note)
                for number, note in enumerate(notes, start=1)
                if note["level_id"] == level["level_id"]
            ],
        )


def _path(shape: Sequence[Sequence[Sequence[Sequence[float]]]]) -> str:
    """Returns polygons as an SVG path, north up."""
    return "".join(
        "M" + "L".join(f"{x:.2f},{-y:.2f}" for x, y in ring) + "Z"
        for polygon in shape
        for ring in polygon
    )


def _unit(unit: Mapping[str, Any]) -> PlanUnit:
    outer = unit["shape"][0][0]
    xs, ys = [x for x, _ in outer], [y for _, y in outer]
    width_m, height_m = max(xs) - min(xs), max(ys) - min(ys)
    fits = width_m > LETTER_M * len(unit["rid"]) and height_m > 2 * LETTER_M
    title, kind = _said(unit)
    return PlanUnit(
        _path(unit["shape"]),
        title,
        kind,
        unit["rid"] if fits and not unit["derived"] else "",
        (min(xs) + max(xs)) / 2,
        -(min(ys) + max(ys)) / 2,
    )


def _said(unit: Mapping[str, Any]) -> tuple[str, str]:
    """Returns what a unit's title says, and its class."""
    name = unit["name"] if unit["name"] != unit["rid"] else ""
    said = " · ".join(one for one in (unit["rid"], name, unit["category"]) if one)
    if unit["unreached"]:
        said = _("%(room)s: not reached, %(why)s") % {"room": said, "why": unit["unreached"]}
        return said, "unreached"
    if unit["derived"]:
        return _("%s: concluded") % said, "concluded"
    return said, "walkway" if unit["category"] == "walkway" else "drawn"
