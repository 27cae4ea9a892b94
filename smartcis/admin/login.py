"""Signing in: so many tries a minute for an account, and for an address."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from smartcis.access.limits import LimitScope, spend_under
from smartcis.address import address_of_request
from smartcis.errors import LimitReached


class AccountLogin(AuthenticationForm):
    """Counts a try before the password is looked at: guesses that come together all count."""

    def clean(self) -> dict[str, Any]:
        """Refuses a try beyond what an account or an address has.

        Raises:
            ValidationError: saying when to try again; or the password is wrong.
        """
        name, limits = self.cleaned_data.get("username"), settings.RATES["logins"]
        if name and self.request is not None:
            keys = {"account": name.casefold(), "address": address_of_request(self.request)}
            bounds = [LimitScope(one, key, limits[one]) for one, key in keys.items() if key]
            try:
                spend_under("logins", bounds)
            except LimitReached as reached:
                again = {"what": _(reached.message), "seconds": reached.retry_s}
                said = _("%(what)s: again in %(seconds)d s") % again
                raise ValidationError(said) from reached
        return super().clean()


class LimitedLogin(AccountLogin, AdminAuthenticationForm):
    """The same before the operator's pages, for staff alone."""
