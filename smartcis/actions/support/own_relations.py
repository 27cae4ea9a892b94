"""Relations that people declare: whose they are, and who may change them."""

from __future__ import annotations

from aspen.errors import AspenError
from smartcis.access.owner import Owner
from smartcis.compiling.live_catalog import live_catalog
from smartcis.errors import Refused, unknown
from smartcis.models import MaintainedView, OwnRelation


def account_of(owner: Owner) -> int:
    """Returns the user a relation will belong to.

    Raises:
        Refused: nobody has logged in.
    """
    if owner.user_id is None:
        raise Refused(
            "only people with an account may declare relations", attempt="log in, or send a token"
        )
    return owner.user_id


def not_ones_own(name: str) -> AspenError:
    """Returns the error for a name that statements may not change."""
    if name in live_catalog():
        return Refused(
            f"{name} is the house's own, which no statement changes",
            found=name,
            attempt="staff edit it under /admin/; CREATE TABLE makes one that is yours",
        )
    views = MaintainedView.objects.filter(named=True).values_list("name", flat=True)
    names = [*OwnRelation.objects.values_list("name", flat=True), *views]
    return unknown("relation of people's own", name, names)


def check_owner(own: OwnRelation, owner: Owner) -> None:
    """Refuses changes by others.

    Raises:
        Refused: it is somebody else's.
    """
    if not owner.staff and (owner.user_id is None or own.user_id != owner.user_id):
        raise Refused(
            f"{own.name} is somebody else's",
            found=own.name,
            attempt="only who declared it, or staff, may change it",
        )
