"""Sources: what feeds the building from outside; add one and it is read within seconds."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from smartcis.actions.remove_source import remove_source
from smartcis.actions.support.save_source import save_source
from smartcis.admin.devices import MappingTable, messages_link, messages_page
from smartcis.admin.marks import Form, ReadOnly, Removed, Switched
from smartcis.admin.points import points_page
from smartcis.models import RefusedMessage, Source, SourceState
from smartcis.sources.health import source_health
from smartcis.wrappers.kinds import KINDS

WORDS = {
    "live": _("live"),
    "late": _("late"),
    "dead": _("no data"),
    "off": _("off"),
    "unknown": _("not known yet"),
}


def config_help() -> SafeString:
    """Lists what each kind of source is set up with."""
    needed = gettext("needed")
    kinds = [
        (
            gettext(kind.label),
            f"{kind.period_s:g}",
            format_html_join(
                "",
                "<li><code>{}</code>{}: {}</li>",
                (
                    (field.name, f" ({needed})" if field.required else "", gettext(field.meaning))
                    for field in kind.fields
                ),
            ),
        )
        for kind in KINDS
    ]
    each = gettext("<li><b>{}</b>, every {} s:<ul>{}</ul></li>")
    said = gettext("A JSON object. Example for a calendar:")
    example = '{} <code>{{"url": "https://example.org/room.ics"}}</code><ul>{}</ul>'
    return format_html(example, said, format_html_join("", each, kinds))


class SourceForm(Form):
    """A source as the operator describes it."""

    class Meta:
        model = Source
        fields = ("source", "name", "kind", "config", "unit", "machine", "period_s", "enabled")
        labels = {"source": _("Id"), "period_s": _("Seconds between two words")}
        help_texts = {
            "source": _("Letters, digits and hyphens; stands in every row of it."),
            "unit": _("The room a calendar belongs to."),
            "machine": _("The machine a software list or power outlet belongs to."),
            "period_s": _(
                "A source that is polled is asked so often. Silent for twice as long it "
                "is late, for four times as long it is dead: shown as “no data”."
            ),
            "enabled": _("Switched off, it is not read, and what it said is withdrawn."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["config"].required = False
        self.fields["config"].help_text = config_help()


@admin.register(Source)
class SourceAdmin(Switched, Removed):
    """Sources and how they are."""

    form = SourceForm
    list_display = (
        *("source", "name", "kind", "unit", "machine", "period_s", "health", "refused", "trouble"),
    )
    list_filter = ("kind", "enabled")
    list_select_related = ("unit", "machine")
    search_fields = ("source", "name", "unit__rid", "machine__mid")
    autocomplete_fields = ("unit", "machine")
    stored = ("source", "health", "trouble", "refused", "warnings", "live", "described")
    save_action = staticmethod(save_source)
    remove_action = staticmethod(remove_source)

    def get_urls(self) -> list[URLPattern]:
        """Adds the pages of a broker's messages, and of a source's points."""
        heard = self.admin_site.admin_view(self.messages)
        described = self.admin_site.admin_view(self.points)
        return [
            path("<slug:source_id>/messages/", heard, name="smartcis_source_messages"),
            path("<slug:source_id>/points/", described, name="smartcis_source_points"),
            *super().get_urls(),
        ]

    def points(self, request: HttpRequest, source_id: str) -> HttpResponse:
        """Shows and takes what a building's description says of a source's devices."""
        return points_page(request, self, source_id)

    def messages(self, request: HttpRequest, source_id: str) -> HttpResponse:
        """Shows a broker's messages."""
        return messages_page(request, self, source_id)

    def get_inlines(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        """Returns the mappings, of a broker."""
        return [MappingTable] if obj is not None and obj.kind == "mqtt" else []

    def get_queryset(self, request: HttpRequest) -> QuerySet[Source]:
        """Reads all healths at once."""
        found: QuerySet[Source] = super().get_queryset(request)
        self._healths = {one.source.pk: one for one in source_health()}
        return found

    @admin.display(description=_("health"))
    def health(self, source: Source) -> str:
        """Returns the state, and since when there is no data."""
        one = self._healths.get(source.pk)
        if one is None or one.since_s is None:
            return str(WORDS[one.state if one else "unknown"])
        since = f"{datetime.fromtimestamp(one.since_s, UTC):%Y-%m-%d %H:%M:%S} UTC"
        return gettext("%(state)s since %(time)s") % {"state": WORDS[one.state], "time": since}

    @admin.display(description=_("what is wrong"))
    def trouble(self, source: Source) -> str:
        """Returns what is wrong."""
        one = self._healths.get(source.pk)
        return one.reason if one else ""

    @admin.display(description=_("messages refused"))
    def refused(self, source: Source) -> str:
        """Returns how many, and where to look at them."""
        one = self._healths.get(source.pk)
        if one is None or not one.refused:
            return "0"
        kept = reverse("admin:smartcis_refusedmessage_changelist")
        return format_html(
            '<a href="{}?source__source__exact={}">{}</a>', kept, source.pk, one.refused
        )

    @admin.display(description=_("messages"))
    def live(self, source: Source) -> SafeString | str:
        """Returns where its messages are shown."""
        link = messages_link(source)
        if not link:
            return "-"
        return format_html('<a href="{}">{}</a>', link, gettext("as they come, and mappings"))

    @admin.display(description=_("points"))
    def described(self, source: Source) -> SafeString | str:
        """Returns where a Brick model or Haystack tags say which devices are where."""
        if not source.pk:
            return "-"
        page = reverse("admin:smartcis_source_points", args=(source.pk,))
        said = gettext("from a Brick model or Haystack tags")
        return format_html('<a href="{}">{}</a>', page, said)

    @admin.display(description=_("what of it cannot be used"))
    def warnings(self, source: Source) -> SafeString | str:
        """Lists what of its last word was left out."""
        state = SourceState.objects.filter(pk=source.pk).first()
        warnings = state.warnings if state else []
        return (
            format_html_join("", "<p>{}</p>", ((one,) for one in warnings))
            if warnings
            else gettext("nothing")
        )


@admin.register(RefusedMessage)
class RefusedMessageAdmin(ReadOnly):
    """What sources sent that could not be used: the newest of each, the beginning of each."""

    list_display = ("at", "source", "topic", "code", "reason", "size_bytes")
    list_filter = ("source", "code")
    list_select_related = ("source",)
