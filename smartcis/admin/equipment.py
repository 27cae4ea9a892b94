"""Machines, their software, desks, kiosks."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest

from smartcis.admin.marks import Page, Table, simulated_mark
from smartcis.models import Desk, Kiosk, Machine, SoftwareInstall


class SoftwareInline(Table):
    """What is installed on one machine."""

    model = SoftwareInstall
    fields = ("software", "simulated")
    extra = 1


@admin.register(Machine)
class MachineAdmin(Page):
    """Machines, searched by host or room; software is edited in place."""

    list_display = ("mid", "host", "unit", "programs", "cpu_type", simulated_mark)
    list_filter = ("unit__level", "simulated", "software__software")
    list_select_related = ("unit",)
    search_fields = ("mid", "host", "unit__rid", "unit__name")
    autocomplete_fields = ("unit", "node", "desk")
    inlines = (SoftwareInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Machine]:
        """Counts programs in the same query."""
        found: QuerySet[Machine] = super().get_queryset(request)
        return found.annotate(program_count=Count("software"))

    @admin.display(description="programs", ordering="program_count")
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


@admin.register(Kiosk)
class KioskAdmin(Page):
    """Screens on the wall."""

    list_display = ("name", "kiosk_id", "node", simulated_mark)
    list_select_related = ("node__unit",)
    search_fields = ("name", "kiosk_id")
    autocomplete_fields = ("node",)
