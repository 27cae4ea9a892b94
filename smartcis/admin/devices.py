"""Devices of brokers: how their messages are read, which were heard, and where they are."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from aspen.errors import AspenError
from smartcis.access.owner import Owner
from smartcis.actions.accept_proposals import accept_proposals
from smartcis.actions.look_at_messages import LookedAt, look_at_messages
from smartcis.actions.place_device import place_device
from smartcis.admin.marks import Form, Page, Table, refuse
from smartcis.admin.points import DOUBTS_SHOWN, devices_placed
from smartcis.models import SeenDevice, Sensor, Source, SourceMapping
from smartcis.models.sensor_kinds import sensor_kinds
from smartcis.sentences import translated
from smartcis.sources.proposed import proposed_places
from smartcis.wrappers.payloads.propose import Proposal

REFRESH_S = 3
NO_KIND = (("", _("as its family says")),)


class MappingForm(Form):
    """A mapping as the operator describes it."""

    class Meta:
        model = SourceMapping
        fields = (
            *("topic", "family", "path", "kind", "unit", "scale", "offset", "identity"),
            *("time_path", "time_form", "enabled"),
        )
        labels = {
            "identity": _("Id of the sensor"),
            "time_path": _("Path of the time"),
            "time_form": _("Time"),
        }
        help_texts = {
            "topic": _("MQTT filter whose levels may have names: zigbee2mqtt/{device}"),
            "family": _("A ready-made one needs the topic alone."),
            "path": _("Into the JSON: data.values[0]. Empty: the payload is the number."),
            "unit": _("Of the payload; empty for that of the kind."),
            "identity": _("With names of levels and paths in braces: {device}.co2"),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["kind"] = forms.ChoiceField(
            choices=lambda: [*NO_KIND, *sensor_kinds()],
            label=self.fields["kind"].label,
            required=False,
        )


class MappingTable(Table):
    """The mappings on a source's page."""

    model = SourceMapping
    form = MappingForm
    extra = 0


def messages_page(request: HttpRequest, page: Page, source_id: str) -> HttpResponse:
    """Shows the messages of a broker as they come, and tries a mapping on them before it is kept.

    Args:
        page: the admin of sources, which asks for permission.
    """
    source = get_object_or_404(Source, pk=source_id, kind="mqtt")
    if not page.has_change_permission(request, source):
        raise PermissionDenied
    owner = Owner.of(request)
    asked = request.POST or (request.GET if "topic" in request.GET else None)
    given = {name: request.GET[name] for name in MappingForm.Meta.fields if name in request.GET}
    form = MappingForm(request.POST or None, initial=given)
    form.instance.source = source
    tried: list[LookedAt] | None = None
    if request.POST and form.is_valid():
        if "keep" in request.POST:
            form.save()
            page.message_user(request, _("The mapping is kept; the source is read by it at once."))
            return HttpResponseRedirect(request.path)
        tried = look_at_messages(source, owner, mapping=form.instance.said())
    context = {
        **page.admin_site.each_context(request),
        "title": _("Messages of %s") % source,
        "opts": page.opts,
        "source": source,
        "form": form,
        "tried": tried,
        "looked": [(one, [_link(each) for each in one.proposals]) for one in _all(source, owner)],
    }
    answer = TemplateResponse(request, "smartcis/messages.html", context)
    if asked is None:
        answer["Refresh"] = str(REFRESH_S)
    return answer


def _all(source: Source, owner: Owner) -> list[LookedAt]:
    try:
        return look_at_messages(source, owner)
    except AspenError:
        return []  # its settings are broken, which its health says


def _link(proposal: Proposal) -> tuple[str, float, str]:
    said = asdict(proposal.mapping)
    shown = proposal.mapping.path or gettext("the payload")
    return shown, proposal.value, urlencode({name: said[name] for name in said if said[name] != ""})


@admin.register(SeenDevice)
class SeenDeviceAdmin(Page):
    """Devices that brokers heard: choose a room or machine, save, and they are read."""

    list_display = (
        *("device", "name", "source", "measures", "heard", "placed", "proposed", "unit", "machine"),
    )
    list_editable = ("unit", "machine")
    list_filter = ("source",)
    list_select_related = ("source", "unit", "machine")
    list_per_page = 50
    search_fields = ("device", "name")
    autocomplete_fields = ("unit", "machine")
    fields = ("source", "device", "name", "measures", "heard", "placed", "unit", "machine")
    readonly_fields = ("source", "device", "name", "measures", "heard", "placed")
    has_add_permission = refuse
    actions = ("place_as_proposed",)

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """Looks up the proposals of all rows of a page at once."""
        listed = super().get_changelist_instance(request)
        self._proposed = proposed_places(listed.result_list)
        return listed

    @admin.display(description=_("proposed"))
    def proposed(self, seen: SeenDevice) -> str:
        """Returns where the building's description has it, and what is doubtful."""
        one = self._proposed.get(seen.pk)
        if one is None:
            return "-"
        where = ", ".join(one.kinds)
        if one.rid:
            where = gettext("%(what)s in %(room)s") % {"what": where, "room": one.rid}
        return f"{where} ({translated(one.doubt)})" if one.doubt else where

    @admin.action(description=_("Place as proposed, where there is no doubt"))
    def place_as_proposed(self, request: HttpRequest, chosen: QuerySet[SeenDevice]) -> None:
        """Places the chosen devices."""
        done = accept_proposals(chosen, Owner.of(request))
        self.message_user(request, devices_placed(done.placed))
        for doubt in done.doubts[:DOUBTS_SHOWN]:
            self.message_user(request, translated(doubt), messages.WARNING)

    @admin.display(description=_("measures"))
    def measures(self, seen: SeenDevice) -> SafeString | str:
        """Returns the newest value of each quantity that was noted."""
        said = sorted(seen.quantities.items())
        return ", ".join(f"{name} {one['value']:g} {one['unit']}".strip() for name, one in said)

    @admin.display(description=_("noted last"), ordering="heard_s")
    def heard(self, seen: SeenDevice) -> str:
        """Returns when it was heard before it was placed, or now."""
        return f"{datetime.fromtimestamp(seen.heard_s, UTC):%Y-%m-%d %H:%M:%S} UTC"

    @admin.display(description=_("sensors"))
    def placed(self, seen: SeenDevice) -> str:
        """Returns how many of its quantities are read."""
        sids = seen.sids().values()
        there = Sensor.objects.filter(sid__in=sids).count()
        if not there:
            return gettext("not placed")
        return gettext("%(there)d of %(all)d") % {"there": there, "all": len(sids)}

    def save_model(self, request: HttpRequest, obj: SeenDevice, form: Any, change: bool) -> None:
        """Places the device."""
        if not obj.unit_id and not obj.machine_id:
            return
        try:
            made = place_device(
                obj, Owner.of(request), rid=obj.unit_id or "", mid=obj.machine_id or ""
            )
        except AspenError as fault:
            self.message_user(request, fault.render(), messages.ERROR)
        else:
            where = obj.machine or obj.unit
            said = ngettext(
                "%(device)s: %(count)d sensor added at %(where)s.",
                "%(device)s: %(count)d sensors added at %(where)s.",
                len(made),
            )
            named = {"device": obj, "count": len(made), "where": where}
            self.message_user(request, said % named)


def messages_link(source: Source) -> str:
    """Returns where a broker's messages are shown; empty for other kinds of source."""
    if source.kind != "mqtt" or not source.pk:
        return ""
    return reverse("admin:smartcis_source_messages", args=(source.pk,))
