"""Owner: who does an action."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.http import HttpRequest

from smartcis.access.grants import is_staff
from smartcis.browser import browser_of
from smartcis.errors import Refused
from smartcis.models import MaintainedQuery


@dataclass(frozen=True, slots=True)
class Owner:
    """A browser, a user, or both.

    Args:
        browser: the browser's token, empty for a program with an API token.
        user_id: the logged-in user, None for a visitor.
        staff: whether the user may edit the building.
        account: the logged-in user's name, empty for a visitor.
    """

    browser: str = ""
    user_id: int | None = None
    staff: bool = False
    account: str = ""

    @classmethod
    def of(cls, request: HttpRequest) -> Owner:
        """Returns whoever sends a request."""
        user: AbstractBaseUser | AnonymousUser = request.user
        return cls(
            browser=browser_of(request.session),
            user_id=user.pk if user.is_authenticated else None,
            staff=is_staff(user),
            account=user.get_username(),
        )

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
            Refused: the query is somebody else's.
        """
        if not self.staff and not self.owns(query.browser, query.user_id):
            raise Refused("this query is somebody else's", found=query.pk, attempt=attempt)


SYSTEM = Owner(staff=True)
