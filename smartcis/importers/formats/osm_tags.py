"""OpenStreetMap tags: what a tagged thing is, by Simple Indoor Tagging and its predecessor.

Source: OpenStreetMap wiki, Simple Indoor Tagging; IndoorOSM (`buildingpart=*`).
"""

from __future__ import annotations

from collections.abc import Mapping

from smartcis.importers.drawing import Names
from smartcis.importers.words import Role, category_of

Tags = Mapping[str, str]
PRIVATE = frozenset({"no", "private"})
_ALIKE = ("room", "amenity", "shop", "office", "area", "name")
_CORRIDORS = frozenset({"corridor", "hall", "hallway", "passage"})


def is_indoor(tags: Tags) -> bool:
    """Returns whether tags speak of the inside of a building."""
    return any(key in tags for key in ("indoor", "buildingpart", "room", "door", "level"))


def kind_of(tags: Tags) -> tuple[Role, str] | None:
    """Returns the role of a tagged thing and, of a space, its category; None for anything else."""
    indoor, highway = tags.get("indoor", ""), tags.get("highway", "")
    part = tags.get("buildingpart", "")
    passage = tags.get("buildingpart:verticalpassage", "")
    if tags.get("entrance", "no") != "no":
        return Role.ENTRANCE, ""
    if indoor == "door" or tags.get("door", "no") != "no":
        return Role.DOOR, ""
    if indoor in {"wall", "barrier", "window"} or tags.get("barrier") == "wall":
        return Role.SOLID, ""
    if indoor in {"pillar", "column"} or tags.get("man_made") == "column":
        return Role.VOID, ""
    if indoor == "level":
        return Role.OUTLINE, ""
    if highway == "elevator" or tags.get("room") == "elevator" or "elevator" in passage:
        return Role.SPACE, "elevator"
    if tags.get("conveying", "no") != "no" and highway == "steps":
        return Role.SPACE, "escalator"
    steps = highway == "steps" or tags.get("stairs", "no") != "no"
    if steps or tags.get("room") == "stairs" or "stair" in passage or "escalator" in passage:
        return Role.SPACE, "stairs"
    if tags.get("ramp") == "yes" and indoor:
        return Role.SPACE, "ramp"
    if indoor == "corridor" or part in _CORRIDORS or tags.get("room") in _CORRIDORS:
        return Role.SPACE, "walkway"
    if indoor in {"room", "yes"} or part == "room" or (tags.get("room") and not indoor):
        return Role.SPACE, _room(tags)
    if indoor == "area" or part:
        found = _room(tags)
        return Role.SPACE, "walkway" if found == "room" else found
    if highway in {"footway", "corridor", "pedestrian", "path", "service"}:
        return Role.PATH, ""
    if "building" in tags or "building:part" in tags:
        return Role.BUILDING, ""
    return None


def _room(tags: Tags) -> str:
    if tags.get("amenity") == "toilets" or tags.get("room") in {"toilet", "toilets"}:
        for whom in ("unisex", "female", "male"):
            if tags.get(whom) == "yes":
                return f"restroom.{whom}"
        return "restroom"
    if "shop" in tags:
        return "shop"
    if "office" in tags:
        return "office"
    found = category_of(*(tags.get(key) for key in _ALIKE))
    return "room" if found in {"walkway", "elevator", "stairs"} else found


def names_of_tags(tags: Tags) -> Names:
    """Returns the names in all languages that are tagged."""
    named = {key[5:]: text for key, text in tags.items() if key.startswith("name:") and text}
    plain = tags.get("name") or tags.get("loc_name") or tags.get("short_name") or ""
    return {"": plain, **named} if plain else named


def ref_of_tags(tags: Tags) -> str:
    """Returns a number or name that tells a thing from others."""
    return tags.get("ref") or tags.get("room:ref") or tags.get("name") or ""
