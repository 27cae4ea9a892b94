"""The calendar."""

from __future__ import annotations

from django.contrib import admin

from smartcis.admin.marks import Page, simulated_mark
from smartcis.models import Reservation


@admin.register(Reservation)
class ReservationAdmin(Page):
    """Reservations; a reserved room turns grey on the map while it lasts."""

    list_display = ("unit", "title", "start", "end", "source", simulated_mark)
    list_filter = ("start", "source", "simulated")
    list_select_related = ("unit", "source")
    date_hierarchy = "start"
    search_fields = ("title", "unit__rid", "unit__name")
    autocomplete_fields = ("unit",)
    fields = ("unit", "title", "start", "end", "simulated")
