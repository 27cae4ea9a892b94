"""The building: drawn things to look at, doors to lock."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from smartcis.admin.marks import Page, ReadOnly, derived_mark, refuse
from smartcis.models import Building, Door, Level, Unit, Venue


@admin.register(Venue)
class VenueAdmin(ReadOnly):
    """The venue and whom its drawing is owed to."""

    list_display = ("name", "slug", "attribution")


@admin.register(Building)
class BuildingAdmin(ReadOnly):
    """The houses of the venue."""

    list_display = ("name", "feature_id")
    exclude = ("footprint",)


@admin.register(Level)
class LevelAdmin(ReadOnly):
    """The floors."""

    list_display = ("name", "level_id", "ordinal")
    exclude = ("outline",)


@admin.register(Unit)
class UnitAdmin(ReadOnly):
    """Rooms, corridors, stairs and lifts; searched by other pages' selectors."""

    list_display = ("rid", "name", "category", "level", "area_m2", derived_mark, "unreached")
    list_filter = ("level", "category", "derived", ("unreached", admin.EmptyFieldListFilter))
    search_fields = ("rid", "name")
    exclude = ("polygon", "ground")


@admin.register(Door)
class DoorAdmin(Page):
    """Doors: lock or open them, one by one or many at once."""

    list_display = ("door_id", "level", "inner", "outer", "state", derived_mark)
    list_filter = ("state", "level")
    list_select_related = ("level", "inner", "outer")
    search_fields = ("door_id", "inner__name", "inner__rid", "outer__rid")
    fields = ("door_id", "level", "inner", "outer", "state", "derived")
    readonly_fields = ("door_id", "level", "inner", "outer", "derived")
    actions = ("lock", "unlock")

    has_add_permission = refuse  # doors come with the building
    has_delete_permission = refuse

    @admin.action(description="Lock the selected doors", permissions=("change",))
    def lock(self, request: HttpRequest, queryset: QuerySet[Door]) -> None:
        """Locks doors; routes lead around them at once."""
        count = queryset.exclude(state=Door.LOCKED).update(state=Door.LOCKED)
        self.message_user(request, f"{count} doors locked.")

    @admin.action(description="Unlock the selected doors", permissions=("change",))
    def unlock(self, request: HttpRequest, queryset: QuerySet[Door]) -> None:
        """Opens doors."""
        count = queryset.exclude(state=Door.OPEN).update(state=Door.OPEN)
        self.message_user(request, f"{count} doors unlocked.")
