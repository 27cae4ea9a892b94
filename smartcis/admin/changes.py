"""The change log: what staff changed, on whichever page or by whichever program."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from smartcis.admin.marks import ReadOnly
from smartcis.models.changes import ChangeRecord


def _said(value: Any) -> str:
    return gettext("nothing") if value in (None, "") else str(value)


@admin.register(ChangeRecord)
class ChangeAdmin(ReadOnly):
    """Changes, the newest first; nobody edits them."""

    list_display = ("at", "account", "thing", "key", "what")
    list_filter = ("account", "kind")
    search_fields = ("key", "account")
    date_hierarchy = "at"
    fields = list_display

    @admin.display(description=_("kind"), ordering="kind")
    def thing(self, change: ChangeRecord) -> str:
        """Returns what kind of thing it was."""
        return gettext(change.kind)

    @admin.display(description=_("what changed"))
    def what(self, change: ChangeRecord) -> SafeString | str:
        """Returns each field before and after; of what came or went, that it did."""
        before = [one for one, _ in change.fields.values()]
        after = [one for _, one in change.fields.values()]
        if not any(one is not None for one in before):
            return gettext("added")
        if not any(one is not None for one in after):
            return gettext("removed")
        rows = ((name, _said(one), _said(other)) for name, (one, other) in change.fields.items())
        return format_html_join("; ", "{}: {} → {}", rows)
