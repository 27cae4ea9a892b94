"""Inventories: upload a table of machines, sensors or rooms, look at what it changes, accept.

The table travels along in the page, so that nothing is kept of one that nobody accepts.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.text import capfirst, format_lazy
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from aspen.errors import AspenError
from smartcis.access.owner import Owner
from smartcis.actions.import_inventory import InventoryOutcome, import_inventory
from smartcis.admin.marks import Page
from smartcis.importers.inventory.columns import COLUMNS
from smartcis.importers.inventory.table import LARGEST_BYTES, MOST_ROWS


class InventoryForm(forms.Form):
    """A table, and whether what it leaves out goes."""

    file = forms.FileField(
        label=_("Table"),
        help_text=format_lazy(
            _("A CSV file with a header, of up to {rows} rows. Nothing changes before you accept."),
            rows=MOST_ROWS,
        ),
    )
    remove = forms.BooleanField(
        required=False, label=_("Remove the machines or sensors that the table does not name")
    )


class AcceptForm(forms.Form):
    """The table that was looked at."""

    table = forms.CharField()
    remove = forms.BooleanField(required=False)

    def clean_table(self) -> bytes:
        """Returns the file's bytes."""
        try:
            return b64decode(self.cleaned_data["table"], validate=True)
        except ValueError as fault:
            raise forms.ValidationError(_("this is not what was uploaded")) from fault


class OnPlan(Page):
    """A list whose things are put on the plan by clicking.

    Args:
        on_plan: what the editor is opened with.
        on_plan_said: the link's words.
    """

    change_list_template = "smartcis/inventory_list.html"
    on_plan = ""
    on_plan_said: Any = ""
    takes_inventory = False


class Inventoried(OnPlan):
    """A list whose things an inventory may name."""

    takes_inventory = True


class InventoryPage(Inventoried):
    """The list with the page of inventories."""

    def get_urls(self) -> list[URLPattern]:
        """Adds the page."""
        view = self.admin_site.admin_view(self.inventory)
        return [path("inventory/", view, name="smartcis_inventory"), *super().get_urls()]

    def inventory(self, request: HttpRequest) -> HttpResponse:
        """Takes a table, shows what it changes, and writes it."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        form = InventoryForm()
        context: dict[str, Any] = {"lists": {one: ", ".join(COLUMNS[one]) for one in COLUMNS}}
        if request.method == "POST":
            accepts = "accept" in request.POST
            said = (
                AcceptForm(request.POST) if accepts else InventoryForm(request.POST, request.FILES)
            )
            if said.is_valid():
                context |= self._imported(request, said.cleaned_data, preview=not accepts)
            else:
                form = said if isinstance(said, InventoryForm) else form
                if accepts:
                    self.message_user(request, _("Upload the table again."), messages.ERROR)
        context |= {**self.admin_site.each_context(request), "opts": self.opts, "form": form}
        context["title"] = _("Import an inventory")
        return TemplateResponse(request, "smartcis/inventory.html", context)

    def _imported(
        self, request: HttpRequest, said: dict[str, Any], *, preview: bool
    ) -> dict[str, Any]:
        remove = said["remove"]
        data: bytes = said["file"].read(LARGEST_BYTES + 1) if preview else said["table"]
        try:
            report = import_inventory(data, Owner.of(request), preview=preview, remove=remove)
        except AspenError as fault:
            self.message_user(request, fault.render(), messages.ERROR)
            return {}
        if not preview:
            counts = report.counts
            each = [f"{count} {gettext(name)}" for name, count in counts.items() if count]
            done = ", ".join(each) or gettext("no rows")
            self.message_user(request, f"{capfirst(gettext(report.thing))}: {done}.")
        table = b64encode(data).decode() if preview else ""
        listed = [row for row in report.rows if row.outcome is not InventoryOutcome.UNCHANGED]
        return {"report": report, "listed": listed, "table": table, "remove": remove}
