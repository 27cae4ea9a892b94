"""What visitors may be led to, and when a target on the way is changed."""

from __future__ import annotations

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from aspen.errors import AspenError
from smartcis.actions.remove_destination import remove_destination
from smartcis.actions.save_destination import save_destination
from smartcis.actions.support.destinations import Beneath
from smartcis.admin.marks import Form, Kept, Page, refuse
from smartcis.models import Destination, RouteRule
from smartcis.queries import standing_queries


class DestinationForm(Form):
    """A destination; its query is compiled before it is saved."""

    class Meta:
        model = Destination
        fields = ("slug", "name", "name_de", "words", "sql", "step_free", "position")

    def clean_sql(self) -> str:
        """Refuses a query that is none of a destination, as the API does."""
        sql = str(self.cleaned_data["sql"]).strip().removesuffix(";").rstrip()
        try:
            Beneath.of(standing_queries()).check(sql)
        except AspenError as error:
            raise ValidationError(f"{error.message} {error.attempt}".strip()) from error
        return sql


@admin.register(Destination)
class DestinationAdmin(Kept):
    """What visitors may look for, beside rooms, machines and software."""

    form = DestinationForm
    list_display = ("name", "slug", "step_free", "position", "works")
    search_fields = ("name", "name_de", "slug", "words")
    save_action = staticmethod(save_destination)
    remove_action = staticmethod(remove_destination)

    @admin.display(description=_("query"))
    def works(self, one: Destination) -> str:
        """Returns why visitors are not led there, if so."""
        if one.error is None:
            return gettext("in use")
        return gettext("left out: %s") % str(one.error["message"])


@admin.register(RouteRule)
class RouteRuleAdmin(Page):
    """How much nearer another target must be."""

    has_add_permission = refuse
    has_delete_permission = refuse
