"""Owner: who does an action."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.http import HttpRequest

from smartcis.access.grants import is_staff
from smartcis.address import address_of_request
from smartcis.browser import browser_of
from smartcis.errors import NotFound, Refused
from smartcis.models import AccessToken, MaintainedQuery


@dataclass(frozen=True, slots=True)
class Owner:
    """A browser, a user, or both.

    Args:
        browser: the browser's token, empty for a program with an API token.
        user_id: the logged-in user, None for a visitor.
        staff: whether the user may edit the building.
        account: the logged-in user's name, empty for a visitor.
        token: what a gateway shows instead of being staff; None for everybody else.
        address: a digest of where they are, empty for the product itself.
        new: whether the browser came without its token, and has one since this request.
    """

    browser: str = ""
    user_id: int | None = None
    staff: bool = False
    account: str = ""
    token: AccessToken | None = None
    address: str = ""
    new: bool = False

    @classmethod
    def of(cls, request: HttpRequest) -> Owner:
        """Returns whoever sends a request."""
        user: AbstractBaseUser | AnonymousUser = request.user
        shown = getattr(request, "auth", None)  # of what only REST framework sees
        return cls(
            browser=browser_of(request.session),
            user_id=user.pk if user.is_authenticated else None,
            staff=is_staff(user),
            account=user.get_username(),
            token=shown if isinstance(shown, AccessToken) and shown.user is None else None,
            address=address_of_request(request),
            new=request.session.session_key is None,
        )

    @property
    def share(self) -> str:
        """Names whose share of the engine queries and questions take; empty for the product's.

        Without a cookie, all of an address have one share: leaving it away gives nobody another.
        It stands in the log, so it is no browser's token.
        """
        if self.user_id is not None:
            who = f"account {self.user_id}"
        elif self.browser and not self.new:
            who = f"browser {self.browser}"
        elif self.address:
            who = f"none at {self.address}"
        else:
            return ""
        return hashlib.blake2s(who.encode(), digest_size=8).hexdigest()

    def require_staff(self, what: str) -> None:
        """Refuses what only staff may do.

        Args:
            what: a verb and its object, e.g. "move a query".

        Raises:
            Refused: this is no staff.
        """
        if not self.staff:
            raise Refused(f"only staff may {what}", attempt="log in as staff")

    def owns(self, browser: str, user_id: int | None) -> bool:
        """Returns whether something made by `browser` or user `user_id` is this owner's."""
        if user_id is not None and user_id == self.user_id:
            return True
        return bool(browser) and browser == self.browser

    def require_own(self, query: MaintainedQuery, attempt: str = "") -> None:
        """Refuses what only a query's owner and staff may do.

        Args:
            attempt: what others may do instead.

        Raises:
            NotFound: the query is somebody else's, and nobody else knows of it.
            Refused: it is somebody else's.
        """
        if not self.staff and not self.owns(query.browser, query.user_id):
            if query.view.private:
                raise NotFound(f"there is no query {query.pk!r}", found=query.pk)
            raise Refused("this query is somebody else's", found=query.pk, attempt=attempt)


SYSTEM = Owner(staff=True)
