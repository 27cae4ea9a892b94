"""Closed: which views are not for everybody, because of what they read."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Q

from smartcis.models.queries import MaintainedView
from smartcis.policies import CLOSED, POLICIES, Readers, reach


def closed_among(names: Iterable[str]) -> list[str]:
    """Returns which relations and views are not for everybody, sorted."""
    asked = set(names)
    found = asked & CLOSED
    if others := asked.difference(POLICIES):
        private = MaintainedView.objects.filter(private=True, name__in=others)
        found.update(private.values_list("name", flat=True))
    return sorted(found)


def is_closed(view: str, sources: Iterable[str]) -> bool:
    """Returns whether a view is not for everybody: as it is declared, or as what it reads is."""
    return bool(closed_among([view] if view in POLICIES else sources))


def why_closed(name: str) -> tuple[str, str]:
    """Returns why a relation or view is closed, in a sentence, and what to do instead."""
    source = closed_behind(name)
    policy = POLICIES[source]
    made = "" if source == name else f" is made of {source}, which"
    return f"{name}{made} {policy.why}", policy.instead


def closed_behind(name: str) -> str:
    """Returns the closed relation that a relation or view is, or is made of."""
    return next(one for one in (name, *behind([name])) if one in CLOSED)


def behind(names: Iterable[str]) -> dict[str, bool]:
    """Returns the named relations and views and all that those views read, through others too.

    Returns:
        By name, whether it is a view.
    """
    wanted = list(names)
    met = MaintainedView.objects.filter(MaintainedView.READABLE | Q(name__in=wanted))
    reads = dict(met.values_list("name", "sources"))
    return reach(wanted, reads)


def rests_on_closed(names: Iterable[str]) -> bool:
    """Returns whether something closed stands behind relations or views."""
    return not CLOSED.isdisjoint(behind(names))


def tells_of_people(names: Iterable[str]) -> bool:
    """Returns whether something that only staff read stands behind relations or views."""
    return any(name in CLOSED and POLICIES[name].readers is Readers.STAFF for name in behind(names))


def open_views() -> set[str]:
    """Returns the views that others may read and behind which nothing closed stands."""
    reads = dict(MaintainedView.objects.values_list("name", "sources"))
    readable = MaintainedView.objects.filter(MaintainedView.READABLE)
    names = readable.values_list("name", flat=True)
    return {name for name in names if CLOSED.isdisjoint(reach([name], reads))}
