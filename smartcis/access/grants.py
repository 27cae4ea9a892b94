"""Access: which view a subscription names, and whose rows it may see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.utils.translation import gettext_noop

from aspen.errors import AspenError
from aspen.model.schema import Row
from smartcis.models import MaintainedQuery, MaintainedView, RouteRequest
from smartcis.models.accesses import note_access
from smartcis.models.closed import tells_of_people, why_closed
from smartcis.policies import OWNER_COLUMN, POLICIES, Readers

NEAREST = 5


class NoSuchView(AspenError, code="smartcis.live.unknown_view"):
    """A subscription to something that is not maintained."""


class Forbidden(AspenError, code="smartcis.live.forbidden"):
    """A view this client may not follow."""


class Veiled(Forbidden, code="smartcis.why.veiled"):
    """A question whose answer would tell where a person is."""


@dataclass(frozen=True, slots=True)
class Grant:
    """What a client may follow.

    Args:
        view: the maintained view's name.
        sessions: of the client's own walks.
        owned: whether it sees of the view only the rows of these.
        on_demand: whether the engine keeps the view only while somebody looks.
        private: whether the view is for staff alone; the client is one of them, and noted.
        asker: whose share of the engine questions about it take; empty for nobody's.
    """

    view: str
    sessions: frozenset[str] = frozenset()
    owned: bool = False
    on_demand: bool = False
    private: bool = False
    asker: str = ""

    @property
    def allowed(self) -> frozenset[str] | None:
        """Sessions whose rows it sees of the view; None: all rows."""
        return self.sessions if self.owned else None

    def may_see(self, relation: str, columns: Sequence[str], row: Row) -> bool:
        """Returns whether the client sees a row of what the view is made of, or of the view."""
        policy = POLICIES.get(relation)
        if self.private or policy is None or policy.readers is Readers.EVERYBODY:
            return True
        return policy.owned and row[columns.index(OWNER_COLUMN)] in self.sessions


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
        Forbidden: it tells of other visitors and the client is no staff, or it answers a query
            and visitors may not query.
    """
    view = maintained(name)
    policy = POLICIES.get(view.name)
    if policy is not None and policy.owned:
        return Grant(view.name, sessions_of(browser), owned=True, on_demand=view.on_demand)
    if view.private:
        if user is None or not is_staff(user):
            sentence, instead = why_closed(view.name)
            raise Forbidden(sentence, found=view.name, attempt=instead)
        what = view.name if view.standing else view.sql
        note_access(user.pk, user.get_username(), gettext_noop("followed"), what)
    known = user is not None and user.is_authenticated
    public = settings.OPEN_QUERIES or view.standing or view.named
    # What an operator hung on a wall is for everybody who stands before it.
    if not (known or public or view.queries.filter(kiosks__isnull=False).exists()):
        raise Forbidden(
            f"{view.name} answers somebody's query, and visitors may not query here",
            found=view.name,
            attempt="log in, or follow a standing view",
        )
    return Grant(view.name, sessions_of(browser), on_demand=view.on_demand, private=view.private)


def refuse_veiled(granted: Grant) -> None:
    """Refuses a question whose answer would tell where a person is.

    A view that gives a room away keeps the walking point back; what is missing for another row,
    what it hangs on, and what would come of another corridor would tell the point.

    Raises:
        Veiled: the view rests on that, and gives away only what people allow.
    """
    if is_veiled(granted):
        raise Veiled(
            f"{granted.view} shows of people what they allow, and no more",
            found=granted.view,
            attempt="staff may query rfid_reading; each time is noted",
        )


def is_veiled(granted: Grant) -> bool:
    """Returns whether a view for everybody rests on where people are: its reasons are not told."""
    return not granted.private and tells_of_people([granted.view])
