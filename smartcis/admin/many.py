"""Many at once: the same change to all things that are chosen in a list, all or none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext_lazy as _

from aspen.errors import AspenError
from smartcis.access.owner import Owner
from smartcis.admin.marks import Page

Changing = Callable[[str, Mapping[str, Any], Owner], object]
CHANGES = "changes"


class Many(Page):
    """A list whose things can be changed together.

    Args:
        many_fields: which fields.
        many_action: the action that changes one.
    """

    many_fields: ClassVar[tuple[str, ...]] = ()
    many_action: ClassVar[Any]  # a `Changing`; a type checker would take its key for `self`
    actions: tuple[str, ...] = ("change_many",)

    @admin.action(
        description=_("Change the selected %(verbose_name_plural)s together"),
        permissions=("change",),
    )
    def change_many(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
        """Asks what to change, and changes it."""
        form = self._form(request)
        chosen = request.POST.getlist(CHANGES)
        if "apply" in request.POST and chosen and form.is_valid():
            said = {name: form.cleaned_data[name] for name in chosen if name in form.fields}
            try:
                count = self._change(queryset, said, Owner.of(request))
            except AspenError as fault:
                form.add_error(None, fault.render())
            else:
                what = self.opts.verbose_name if count == 1 else self.opts.verbose_name_plural
                text = _("%(count)d %(what)s changed.") % {"count": count, "what": what}
                self.message_user(request, text, messages.SUCCESS)
                return None
        elif "apply" in request.POST and not chosen:
            form.add_error(None, _("Tick what shall change."))
        context = {
            **self.admin_site.each_context(request),
            "title": _("Change %(count)d %(what)s together")
            % {"count": queryset.count(), "what": self.opts.verbose_name_plural},
            "opts": self.opts,
            "form": form,
            "chosen": chosen,
            "things": queryset,
            "keys": request.POST.getlist(ACTION_CHECKBOX_NAME),
            "every": request.POST.get("select_across", "0"),
            "name": ACTION_CHECKBOX_NAME,
        }
        return TemplateResponse(request, "smartcis/many.html", context)

    @transaction.atomic
    def _change(self, queryset: QuerySet[Any], said: Mapping[str, Any], owner: Owner) -> int:
        keys = list(queryset.values_list("pk", flat=True))
        change: Changing = type(self).many_action
        for key in keys:
            change(key, said, owner)
        return len(keys)

    def _form(self, request: HttpRequest) -> forms.Form:
        """Returns a form of the fields, none of which need be filled in."""
        whole = self.get_form(request)(initial={})
        form = forms.Form(request.POST if "apply" in request.POST else None, prefix="to")
        for name in self.many_fields:
            field = whole.fields[name]
            field.required = False
            form.fields[name] = field
        return form
