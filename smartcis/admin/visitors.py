"""Visitors: tags, and what their holders let others see; and who of the staff looked."""

from __future__ import annotations

import segno
from django.conf import settings
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from smartcis.admin.marks import Page, ReadOnly, simulated_mark
from smartcis.models import StaffAccess, Visitor
from smartcis.models.visitors import mint_code


@admin.register(Visitor)
class VisitorAdmin(Page):
    """Simulated visitors walk in when added and leave when switched off.

    What others may see of a real tag is for its holder to choose; staff can only hide it.
    """

    list_display = ("tag", "consent", "enabled", simulated_mark)
    list_filter = ("consent", "enabled", "simulated")
    search_fields = ("tag",)
    fields = ("tag", "simulated", "consent", "card", "pseudonym", "speed_m_s", "enabled")
    actions = ("hide", "give_new_codes")

    def get_readonly_fields(
        self, request: HttpRequest, obj: Visitor | None = None
    ) -> tuple[str, ...]:
        """Keeps the choice of a real tag's holder out of reach."""
        own = ("card", "pseudonym")
        return own if obj is None or obj.simulated else (*own, "simulated", "consent")

    def save_model(self, request: HttpRequest, obj: Visitor, form: object, change: bool) -> None:
        """Saves a new real tag as hidden, whatever the form contains."""
        if not obj.simulated and not change:
            obj.consent = Visitor.HIDDEN
        super().save_model(request, obj, form, change)

    @admin.display(description=_("card for the holder"))
    def card(self, visitor: Visitor) -> str:
        """Returns the address to print, or to put into a QR code; it goes to the holder alone."""
        if not visitor.pk:
            return gettext("after saving")
        card = format_html("<code>/#visitor={}</code>", visitor.code)
        if not settings.PUBLIC_URL:
            return card
        code = segno.make_qr(f"{settings.PUBLIC_URL}/#visitor={visitor.code}", error="m")
        drawn = SafeString(code.svg_inline(scale=4, border=2, light="#fff"))
        return format_html("<p>{}</p>{}", drawn, card)

    @admin.action(description=_("Hide the selected visitors"), permissions=["change"])
    def hide(self, request: HttpRequest, chosen: QuerySet[Visitor]) -> None:
        """Hides them until their holders choose otherwise."""
        for visitor in chosen:
            visitor.consent = Visitor.HIDDEN
            visitor.save(update_fields=["consent"])
        self.message_user(request, _("%d hidden") % len(chosen))

    @admin.action(description=_("New codes: the old cards stop working"), permissions=["change"])
    def give_new_codes(self, request: HttpRequest, chosen: QuerySet[Visitor]) -> None:
        """Makes new codes, because a card was lost."""
        for visitor in chosen:
            visitor.code = mint_code()
            visitor.save(update_fields=["code"])
        self.message_user(request, _("%d new codes") % len(chosen))


@admin.register(StaffAccess)
class StaffAccessAdmin(ReadOnly):
    """Looks at what tells of visitors: who, at what, when. Nobody changes or deletes them here."""

    list_display = ("at", "account", "did", "what", "times", "last_at")
    list_filter = ("how", "account")
    search_fields = ("account", "what")
    date_hierarchy = "at"

    @admin.display(description=_("how"), ordering="how")
    def did(self, look: StaffAccess) -> str:
        """Returns how they looked."""
        return gettext(look.how)
