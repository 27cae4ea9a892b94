"""Access: which view a subscription names, and whose rows it may see."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

from aspen.errors import AspenError
from smartcis.models import MaintainedQuery, MaintainedView, RouteRequest
from smartcis.models.accesses import note_access

NEAREST = 5


class NoSuchView(AspenError, code="smartcis.live.unknown_view"):
    """A subscription to something that is not maintained."""


class Forbidden(AspenError, code="smartcis.live.forbidden"):
    """A view this client may not follow."""


@dataclass(frozen=True, slots=True)
class Grant:
    """What a client may follow.

    Args:
        view: the maintained view's name.
        allowed: sessions whose rows it may see where rows have owners; None: all rows.
        on_demand: whether the engine keeps the view only while somebody looks.
        private: whether the view is for staff alone; the client is one of them, and noted.
    """

    view: str
    allowed: frozenset[str] | None
    on_demand: bool
    private: bool = False


def is_staff(user: AbstractBaseUser | AnonymousUser | None) -> bool:
    """Returns whether a user may edit the building."""
    return bool(user is not None and user.is_active and getattr(user, "is_staff", False))


def sessions_of(browser: str) -> frozenset[str]:
    """Returns the route sessions of a browser."""
    if not browser:
        return frozenset()
    found = RouteRequest.objects.filter(browser=browser).values_list("session", flat=True)
    return frozenset(found)


def maintained(name: str) -> MaintainedView:
    """Returns a view by its name, or by the id of a query it answers.

    Raises:
        NoSuchView: nothing of that name; the nearest standing views are in `exists`.
    """
    view = MaintainedView.objects.filter(name=name).first()
    if view is not None:
        return view
    query = MaintainedQuery.objects.select_related("view").filter(pk=name).first()
    if query is not None:
        return query.view
    names = list(MaintainedView.objects.filter(standing=True).values_list("name", flat=True))
    raise NoSuchView(
        f"there is no view {name[:40]!r}",
        found=name[:40],
        exists=get_close_matches(name, names, n=NEAREST) or sorted(names)[:NEAREST],
        attempt="see /api/v1/sources/ for the names",
    )


def grant(name: str, *, browser: str, user: AbstractBaseUser | AnonymousUser | None) -> Grant:
    """Authorises a subscription to a view, or to a query by its id.

    Raises:
        NoSuchView: nothing of that name; the nearest standing views are in `exists`.
        Forbidden: it tells of other visitors and the client is no staff.
    """
    view = maintained(name)
    if view.private:
        if user is None or not is_staff(user):
            raise Forbidden(
                f"{view.name} tells of other visitors",
                found=view.name,
                attempt="log in as staff",
            )
        what = view.name if view.standing else view.sql
        note_access(user.pk, user.get_username(), "followed", what)
    if not view.standing and is_staff(user):
        return Grant(view.name, None, view.on_demand, view.private)
    return Grant(view.name, sessions_of(browser), view.on_demand, view.private)
