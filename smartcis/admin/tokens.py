"""Tokens: staff make one for each gateway and script, see when it was used, and revoke it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from smartcis.actions.issue_token import issue_token
from smartcis.admin.marks import Form, Page, refuse
from smartcis.models import AccessToken, Source
from smartcis.models.tokens import PUSH_DAYS


class TokenForm(Form):
    """A token as staff ask for it."""

    sources = forms.MultipleChoiceField(
        required=False,
        label=_("Sources"),
        widget=forms.CheckboxSelectMultiple,
        help_text=_(
            "It pushes rows for these. Where all of them belong to a room or a machine, it "
            "pushes readings of the sensors there; otherwise of any."
        ),
    )

    class Meta:
        model = AccessToken
        fields = ("name", "scope", "sources", "expires_at")
        help_texts = {
            "name": _("Who will use it, e.g. gateway on the second floor."),
            "scope": _("With the last choice, the token has all your own rights."),
            "expires_at": _("UTC. It is refused from then on."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        pushing = Source.objects.filter(kind="push")
        self.fields["sources"].choices = [(one.pk, str(one)) for one in pushing]  # type: ignore[attr-defined]  # of this kind of field
        self.fields["expires_at"].initial = timezone.now() + timedelta(PUSH_DAYS)


@admin.register(AccessToken)
class AccessTokenAdmin(Page):
    """Tokens; deleting one revokes it."""

    form = TokenForm
    list_display = ("name", "begins", "scope", "for_whom", "expires_at", "used_at", "made_at")
    list_filter = ("scope",)
    list_select_related = ("user",)
    search_fields = ("name", "begins")
    has_change_permission = refuse

    @admin.display(description=_("for"))
    def for_whom(self, token: AccessToken) -> str:
        """Returns its sources, or its account."""
        return ", ".join(token.sources) or (token.user.get_username() if token.user else "")

    def save_model(self, request: HttpRequest, obj: AccessToken, *_args: Any) -> None:
        """Issues the token and shows it, this once."""
        assert request.user.is_authenticated
        made, text = issue_token(
            obj.name,
            scope=obj.scope,
            sources=obj.sources,
            user=request.user,
            days=(obj.expires_at - timezone.now()) / timedelta(days=1),
        )
        obj.pk = made.pk
        obj.begins = made.begins
        said = format_html("{} <code>{}</code>", _("The token, shown this once:"), text)
        self.message_user(request, said, messages.WARNING)
