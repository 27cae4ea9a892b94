"""The building: drawn things to look at, doors to lock."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from smartcis.access.owner import Owner
from smartcis.actions.change_room import change_room
from smartcis.actions.rename_level import rename_level
from smartcis.actions.set_door_state import set_door_state
from smartcis.actions.support.check_category import check_category
from smartcis.admin.inventory import Inventoried, OnPlan
from smartcis.admin.many import Many
from smartcis.admin.marks import Form, Page, ReadOnly, derived_mark, refuse
from smartcis.errors import Invalid
from smartcis.models import Building, Door, Level, Unit, Venue


def _said(form: Any) -> dict[str, str]:
    return {name: form.cleaned_data[name] for name in form.changed_data}


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
class LevelAdmin(Page):
    """The floors: what people call them; their geometry is the importer's."""

    list_display = ("name", "level_id", "ordinal")
    fields = ("level_id", "name", "short_name", "ordinal", "venue", "feature_id")
    readonly_fields = ("level_id", "ordinal", "venue", "feature_id")

    has_add_permission = refuse
    has_delete_permission = refuse

    def save_model(self, request: HttpRequest, obj: Level, form: Any, change: bool) -> None:
        """Renames a floor."""
        rename_level(obj.pk, _said(form), Owner.of(request))


class UnitForm(Form):
    """What people say of a room."""

    class Meta:
        model = Unit
        fields = ("name", "category")

    def clean_category(self) -> str:
        """Refuses what only a drawing can say."""
        category = str(self.cleaned_data["category"])
        try:
            check_category(Unit.objects.get(pk=self.instance.pk).category, category)
        except Invalid as fault:
            raise forms.ValidationError(fault.message) from fault
        return category


@admin.register(Unit)
class UnitAdmin(Inventoried, Many):
    """Rooms, corridors, stairs and lifts; searched by other pages' selectors."""

    form = UnitForm

    list_display = ("rid", "name", "category", "level", "area_m2", derived_mark, "unreached")
    list_filter = ("level", "category", "derived", ("unreached", admin.EmptyFieldListFilter))
    search_fields = ("rid", "name")
    readonly_fields = (
        *("rid", "level", "feature_id", "label_x_m", "label_y_m", "area_m2", "derived"),
        "unreached",
    )

    many_fields = ("category",)
    many_action = staticmethod(change_room)

    has_add_permission = refuse
    has_delete_permission = refuse

    def save_model(self, request: HttpRequest, obj: Unit, form: Any, change: bool) -> None:
        """Changes what people say of a room."""
        change_room(obj.pk, _said(form), Owner.of(request))


@admin.register(Door)
class DoorAdmin(OnPlan):
    """Doors: lock or open them, one by one or many at once."""

    on_plan = "tool=door"
    on_plan_said = _("Put a door on the plan by clicking on a wall")

    list_display = ("door_id", "level", "inner", "outer", "state", derived_mark)
    list_filter = ("state", "level")
    list_select_related = ("level", "inner", "outer")
    search_fields = ("door_id", "inner__name", "inner__rid", "outer__rid")
    fields = ("door_id", "level", "inner", "outer", "state", "derived")
    readonly_fields = ("door_id", "level", "inner", "outer", "derived")
    actions = ("lock", "unlock")

    has_add_permission = refuse  # doors come with the building
    has_delete_permission = refuse

    @admin.action(description=_("Lock the selected doors"), permissions=("change",))
    def lock(self, request: HttpRequest, queryset: QuerySet[Door]) -> None:
        """Locks doors; routes lead around them at once."""
        self._set(request, queryset, Door.LOCKED)

    @admin.action(description=_("Unlock the selected doors"), permissions=("change",))
    def unlock(self, request: HttpRequest, queryset: QuerySet[Door]) -> None:
        """Opens doors."""
        self._set(request, queryset, Door.OPEN)

    def save_model(self, request: HttpRequest, obj: Door, form: Any, change: bool) -> None:
        """Sets a door's state as the API does."""
        set_door_state(obj.pk, obj.state, Owner.of(request))

    @transaction.atomic
    def _set(self, request: HttpRequest, queryset: QuerySet[Door], state: str) -> None:
        others = queryset.exclude(state=state).values_list("pk", flat=True)
        owner, keys = Owner.of(request), list(others)
        for key in keys:
            set_door_state(key, state, owner)
        count = len(keys)
        if state == Door.LOCKED:
            said = ngettext("%d door locked.", "%d doors locked.", count)
        else:
            said = ngettext("%d door unlocked.", "%d doors unlocked.", count)
        self.message_user(request, said % count)
