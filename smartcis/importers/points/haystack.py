"""Haystack: tags of a building's entities, as JSON of version 3 or 4.

    {"rows": [{"id": "r:t1 Kitchen", "point": "m:", "sensor": "m:", "temp": "m:", "unit": "s:°F",
               "equipRef": "r:ahu", "spaceRef": "r:c180"}]}

Source:     project-haystack.org, "JSON"; own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from smartcis.importers.errors import BrokenFile, ImportTooLarge, NothingDrawn
from smartcis.importers.points.described import (
    MOST_POINTS,
    DescribedThing,
    Description,
    strange_classes,
)
from smartcis.json_text import BadJSON, decoded

TAGS: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"dewPoint"}), ""),
    (frozenset({"reactive", "power"}), ""),
    (frozenset({"temp"}), "temperature"),
    (frozenset({"humidity"}), "humidity"),
    (frozenset({"co2"}), "co2"),
    (frozenset({"tvoc"}), "voc"),
    (frozenset({"voc"}), "voc"),
    (frozenset({"pm25"}), "pm25"),
    (frozenset({"pm10"}), "pm10"),
    (frozenset({"occupied"}), "presence"),
    (frozenset({"occupancy"}), "presence"),
    (frozenset({"motion"}), "presence"),
    (frozenset({"illuminance"}), "light"),
    (frozenset({"smoke"}), "smoke"),
    (frozenset({"leak"}), "water"),
    (frozenset({"contact", "door"}), "door"),
    (frozenset({"atmospheric", "pressure"}), "pressure"),
    (frozenset({"barometric", "pressure"}), "pressure"),
    (frozenset({"power"}), "power"),
    (frozenset({"energy"}), "consumption"),
    (frozenset({"volt"}), "voltage"),
    (frozenset({"elec", "current"}), "current"),
)
"""Tags that a point bears, and the kind of sensor; the first that fits holds."""
REFERENCES = ("spaceRef", "roomRef", "floorSpaceRef")
MARKER = object()


def read_haystack(data: bytes) -> Description:
    """Reads a grid, or a list of entities.

    Raises:
        BrokenFile: it is neither.
        NothingDrawn: it has no points.
        ImportTooLarge: it has more than a building has.
    """
    try:
        said = decoded(data)
    except BadJSON as error:
        raise BrokenFile("the tags are no JSON", found=error.message) from error
    rows = said.get("rows") if isinstance(said, dict) else said
    if not isinstance(rows, list) or not all(isinstance(one, dict) for one in rows):
        raise BrokenFile("the tags are no grid of entities", attempt='{"rows": [{…}, …]}')
    tagged = [{name: _value(value) for name, value in row.items()} for row in rows]
    entities = {str(one["id"]): one for one in tagged if isinstance(one.get("id"), str)}
    points = {key: one for key, one in entities.items() if one.get("point") is MARKER}
    if not points:
        raise NothingDrawn("no entity has an id and the tag point")
    if len(points) > MOST_POINTS:
        raise ImportTooLarge(f"there are {len(points)} points", exists=[f"up to {MOST_POINTS}"])
    things, strange = [], []
    for key, one in sorted(points.items()):
        bears = {name for name, value in one.items() if value is MARKER}
        kind = next((kind for tags, kind in TAGS if tags <= bears), "")
        if kind and "sensor" in bears:
            things.append(_thing(entities, key, one, kind))
        else:
            strange.append(" ".join(sorted(bears - {"point"})) or "a point without tags")
    return Description(tuple(things), tuple(strange_classes(strange)))


def _thing(
    entities: Mapping[str, Mapping[str, Any]], key: str, point: Mapping[str, Any], kind: str
) -> DescribedThing:
    said = [point[name] for name in ("dis", "navName") if isinstance(point.get(name), str)]
    addresses = [
        value for name, value in point.items() if name.endswith("Cur") and isinstance(value, str)
    ]
    unit, equipment = point.get("unit"), point.get("equipRef")
    names = _names(entities, equipment)
    return DescribedThing(
        key,
        tuple(dict.fromkeys([key, *said, *addresses])),
        said[0] if said else key,
        kind,
        unit if isinstance(unit, str) else "",
        _places(entities, point),
        names[-1] if names else "",
    )


def _places(
    entities: Mapping[str, Mapping[str, Any]], point: Mapping[str, Any]
) -> tuple[tuple[str, ...], ...]:
    """Returns the space of a point, else of its equipment, else of what that is part of."""
    one: Mapping[str, Any] | None = point
    met: list[str] = []
    while one is not None:
        places = [_names(entities, one.get(name)) for name in REFERENCES]
        if found := tuple(names for names in places if names):
            return found
        above = one.get("equipRef")
        if not isinstance(above, str) or above in met:
            return ()  # equipment that is part of itself is nowhere
        met.append(above)
        one = entities.get(above)
    return ()


def _names(entities: Mapping[str, Mapping[str, Any]], reference: Any) -> tuple[str, ...]:
    if not isinstance(reference, str):
        return ()
    said = entities.get(reference, {})
    found = [said.get(name) for name in ("dis", "navName", "spaceName", "roomName")]
    return (reference, *(one for one in found if isinstance(one, str)))


def _value(value: Any) -> Any:
    """Returns a tag's value: the marker, or a text for references and texts, else as it is."""
    if isinstance(value, dict):
        kind, told = value.get("_kind"), value.get("val")
        return MARKER if kind == "marker" else told
    if isinstance(value, str) and value[1:2] == ":":
        form, rest = value[0], value[2:]
        if form == "m":
            return MARKER
        return rest.partition(" ")[0] if form == "r" else rest
    return value
