"""Places: which walking point somebody means by a room or a kiosk."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from smartcis.client.entries import KioskEntry, RoomEntry
from smartcis.client.problem import Problem

SHOWN = 8


def node_at(place: str, kiosks: Iterable[KioskEntry], rooms: Iterable[RoomEntry]) -> int:
    """Returns the walking point of a place.

    Args:
        place: a kiosk's id, a room's id, a room's name that no other has, or a point's number.

    Raises:
        Problem: there is no such place, several have this name, or nobody can walk there.
    """
    found = {kiosk.id: kiosk.node for kiosk in kiosks}
    if place in found:
        return found[place]
    known = list(rooms)
    named = [one for one in known if one.id == place] or [one for one in known if one.name == place]
    if not named and place.isdecimal():
        return int(place)
    nodes = [one.node for one in named if one.node is not None]
    if len(named) == len(nodes) == 1:
        return nodes[0]
    near = get_close_matches(place, [*found, *(one.id for one in known), *(r.name for r in known)])
    raise Problem(
        f"{len(named)} rooms have the name {place!r}"
        if len(named) > 1
        else f"nobody can start at {place!r}: it has no walking point"
        if named
        else f"there is no room or kiosk {place!r}",
        code="smartcis.client.no_such_place",
        found=place,
        exists=[one.id for one in named][:SHOWN] if len(named) > 1 else near,
        attempt="use the id of a room",
    )
