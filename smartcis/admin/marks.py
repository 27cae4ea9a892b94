"""Marks: what every list says about where a row comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.contrib import admin
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from smartcis.access.owner import Owner

# Django's classes take type arguments only for the type checker.
if TYPE_CHECKING:
    Page = admin.ModelAdmin[Any]
    Table = admin.TabularInline[Any, Any]
    Form = forms.ModelForm[Any]
else:
    Page, Table, Form = admin.ModelAdmin, admin.TabularInline, forms.ModelForm


@admin.display(description=_("origin"), ordering="simulated")
def simulated_mark(row: Any) -> str:
    """Marks a row as simulated."""
    return gettext("simulated") if row.simulated else gettext("entered")


@admin.display(description=_("origin"), ordering="derived")
def derived_mark(row: Any) -> str:
    """Marks a row as derived from the drawing."""
    return gettext("derived") if row.derived else gettext("drawn")


def refuse(*_args: Any, **_options: Any) -> bool:
    """Refuses a permission to everybody."""
    return False


class ReadOnly(Page):
    """A table that only imports write; viewing needs the view permission."""

    has_add_permission = refuse
    has_change_permission = refuse
    has_delete_permission = refuse


class Removed(Page):
    """What actions save and remove as the API does, one by one or many at once.

    Args:
        save_action: takes one, and changes: none, as the form has made them.
        remove_action: takes a key, and who removes.
    """

    save_action: ClassVar[Any]
    remove_action: ClassVar[Any]

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Saves one."""
        type(self).save_action(obj, {})

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        """Removes one."""
        type(self).remove_action(obj.pk, Owner.of(request))

    @transaction.atomic
    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Removes many, all or none."""
        for key in list(queryset.values_list("pk", flat=True)):
            type(self).remove_action(key, Owner.of(request))


class Kept(Removed):
    """What keeps its id: another id would be another thing."""

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Returns what nobody edits."""
        return (str(self.opts.pk.name),) if obj else ()


class Switched(Page):
    """What is switched on and off; `stored`: what is shown of one that is there, its id first."""

    stored: tuple[str, ...] = ()
    actions: tuple[str, ...] = ("switch_on", "switch_off")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Returns what nobody edits."""
        return self.stored if obj else ()

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Puts the id first."""
        shown: tuple[str, ...] = self.form.Meta.fields  # type: ignore[attr-defined]  # of a ModelForm
        return tuple(dict.fromkeys((self.stored[0], *shown, *self.stored))) if obj else shown

    @admin.action(
        description=_("Switch the selected %(verbose_name_plural)s on"), permissions=("change",)
    )
    def switch_on(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Switches them on."""
        self._switch(request, queryset, enabled=True)

    @admin.action(
        description=_("Switch the selected %(verbose_name_plural)s off"), permissions=("change",)
    )
    def switch_off(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Silences them; what a source said is withdrawn within seconds."""
        self._switch(request, queryset, enabled=False)

    def _switch(self, request: HttpRequest, queryset: QuerySet[Any], *, enabled: bool) -> None:
        count = queryset.update(enabled=enabled, updated_at=timezone.now())
        said = _("%(count)d %(what)s switched on.")
        if not enabled:
            said = _("%(count)d %(what)s switched off.")
        self.message_user(request, said % {"count": count, "what": self.opts.verbose_name_plural})
