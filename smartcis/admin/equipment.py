"""Machines, their software, desks, kiosks."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from smartcis.actions.change_machine import change_machine
from smartcis.actions.remove_kiosk import remove_kiosk
from smartcis.actions.remove_machine import remove_machine
from smartcis.actions.support.save_kiosk import save_kiosk
from smartcis.actions.support.save_machine import save_machine
from smartcis.actions.support.stand import Stand, stand_of
from smartcis.admin.inventory import InventoryPage, OnPlan
from smartcis.admin.many import Many
from smartcis.admin.marks import Form, Kept, Page, Table, simulated_mark
from smartcis.compiling.query_title import title_of
from smartcis.errors import Invalid
from smartcis.models import Desk, Kiosk, Machine, MaintainedQuery, SoftwareInstall

PLACE = {"unit", "node", "x_m", "y_m"}


class SoftwareInline(Table):
    """What is installed on one machine."""

    model = SoftwareInstall
    fields = ("software", "simulated")
    extra = 1


class MachineForm(Form):
    """A machine; without point and position it stands in the middle of its room."""

    class Meta:
        model = Machine
        fields = ("mid", "host", "unit", "node", "x_m", "y_m", "cpu_type", "simulated")
        help_texts = {
            "node": _("The walking point it stands at; without one a desk is put at the position."),
            "simulated": _("Untick for a real machine."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("node", "x_m", "y_m"):
            self.fields[name].required = False

    def clean(self) -> dict[str, Any]:
        """Finds where it can stand."""
        said: dict[str, Any] = super().clean() or self.cleaned_data
        self.stand: Stand | None = None
        if "unit" in said and PLACE & set(self.changed_data):
            node, x_m, y_m = (said.get(name) for name in ("node", "x_m", "y_m"))
            try:
                self.stand = stand_of(said["unit"], node, x_m, y_m)
            except Invalid as fault:
                raise forms.ValidationError(fault.message) from fault
        return said


@admin.register(Machine)
class MachineAdmin(InventoryPage, Kept, Many):
    """Machines, searched by host or room; software is edited in place."""

    form = MachineForm
    on_plan = "tool=place&thing=machine"
    on_plan_said = _("Put a machine on the plan by clicking")

    list_display = ("mid", "host", "unit", "programs", "cpu_type", simulated_mark)
    list_filter = ("unit__level", "simulated", "software__software")
    list_select_related = ("unit",)
    search_fields = ("mid", "host", "unit__rid", "unit__name")
    autocomplete_fields = ("unit", "node")
    inlines = (SoftwareInline,)
    many_fields = ("cpu_type", "simulated")
    many_action = staticmethod(change_machine)
    remove_action = staticmethod(remove_machine)

    def save_model(self, request: HttpRequest, obj: Machine, form: Any, change: bool) -> None:
        """Saves a machine as the API does: with its desk, and with what moves with it."""
        save_machine(obj, form.stand)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Machine]:
        """Counts programs in the same query."""
        found: QuerySet[Machine] = super().get_queryset(request)
        return found.annotate(program_count=Count("software"))

    @admin.display(description=_("programs"), ordering="program_count")
    def programs(self, machine: Machine) -> int:
        """Returns how many programs are installed."""
        return int(getattr(machine, "program_count", 0))


@admin.register(SoftwareInstall)
class SoftwareInstallAdmin(Page):
    """What is installed where; what people can ask the way for."""

    list_display = ("software", "machine", simulated_mark)
    list_filter = ("software", "simulated")
    list_select_related = ("machine",)
    search_fields = ("software", "machine__mid", "machine__host")
    autocomplete_fields = ("machine",)


@admin.register(Desk)
class DeskAdmin(Page):
    """Desks."""

    list_display = ("desk_id", "unit", simulated_mark)
    list_filter = ("unit__level", "simulated")
    list_select_related = ("unit",)
    search_fields = ("desk_id", "unit__rid")
    autocomplete_fields = ("unit", "node")


class QueryChoice(forms.ModelChoiceField):  # type: ignore[type-arg]  # no type at run time
    """A query, under the name that people read."""

    def __init__(self, queryset: QuerySet[MaintainedQuery], **options: Any) -> None:
        super().__init__(queryset.filter(view__private=False), **options)

    def label_from_instance(self, obj: MaintainedQuery) -> str:
        """Returns what people call it."""
        return f"{title_of(obj)} ({obj.pk})"


class KioskForm(Form):
    """A kiosk, and how its plan is turned."""

    class Meta:
        model = Kiosk
        fields = ("kiosk_id", "name", "node", "bearing_deg", "query", "simulated")
        field_classes = {"query": QueryChoice}  # Django's name and way
        help_texts = {
            "kiosk_id": _("Stands in the address of its page, as entrance in /kiosk/entrance/."),
            "node": _("Where people stand who look at it."),
            "bearing_deg": _(
                "Where people look who stand before it, clockwise from the plan's north:"
                " 90 is east. Its plan is turned so that this is up. Empty: as it is drawn."
            ),
            "query": _(
                "What it shows instead of the plan: the page of this query, without controls."
                " Queries over what visitors may not read are not offered."
            ),
        }


@admin.register(Kiosk)
class KioskAdmin(OnPlan, Kept):
    """Screens on the wall."""

    on_plan = "tool=place&thing=kiosk"
    on_plan_said = _("Hang a kiosk by clicking on the plan")

    form = KioskForm
    list_display = ("name", "kiosk_id", "node", "bearing_deg", "shows", simulated_mark)
    list_select_related = ("node__unit", "query")
    search_fields = ("name", "kiosk_id")
    save_action = staticmethod(save_kiosk)
    remove_action = staticmethod(remove_kiosk)
    autocomplete_fields = ("node",)

    @admin.display(description=_("shows"))
    def shows(self, kiosk: Kiosk) -> str:
        """Says what is on it."""
        return gettext("the plan") if kiosk.query is None else title_of(kiosk.query)
