"""IMDF: a venue as one collection of features per kind, or all in one file.

Source: Indoor Mapping Data Format 1.0.0 (OGC community standard 20-094): required are level and
unit; opening, amenity, anchor, occupant, relationship, fixture, kiosk and footprint are used.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any

import shapely
from shapely.geometry import Point
from shapely.geometry.base import BaseGeometry

from smartcis.importers.drawing import (
    LEVEL_HEIGHT_M,
    RISERS,
    Drawing,
    DrawnBuilding,
    DrawnEntrance,
    DrawnFixture,
    DrawnLevel,
    DrawnOpening,
    DrawnRiser,
    DrawnSolid,
    DrawnSpace,
    Finding,
    Note,
    label,
)
from smartcis.importers.errors import BrokenFile, ImportRefused, MissingFile
from smartcis.importers.files import Files
from smartcis.importers.formats.geojson_shapes import (
    Feature,
    features_of,
    json_of,
    names_of,
    text_of,
)
from smartcis.importers.formats.osm_tags import PRIVATE
from smartcis.importers.formats.own_features import MARK, OwnFeatures, point_told
from smartcis.importers.level_names import level_of
from smartcis.importers.words import Role, meaning

KINDS = (
    *("venue", "level", "unit", "building", "footprint", "amenity", "opening", "anchor"),
    *("occupant", "relationship", "fixture", "kiosk"),
)
CLOSED = frozenset({"employeesonly", "restricted"})
Kinds = Mapping[str, list[Feature]]


class ImdfImporter:
    """IMDF."""

    name = "IMDF (folder or archive)"

    def recognises(self, files: Files) -> bool:
        """Returns whether there are levels and units, in files of their own or by feature type."""
        if files.named("level.json", "level.geojson", "unit.json", "unit.geojson"):
            return True
        if files.named("manifest.json") and files.named("venue.json", "venue.geojson"):
            return True
        return len(files.names) == 1 and b'"feature_type"' in files.head(files.names[0])

    def read(self, files: Files) -> Drawing:
        """Reads a venue, in degrees."""
        notes: list[Note] = []
        kinds = _kinds(files, notes)
        own = OwnFeatures()
        shapes = _own_footprints(kinds)
        kinds = {
            kind: [one for one in features if not own.take(one)] for kind, features in kinds.items()
        }
        levels = [*own.levels, *_levels(kinds, notes)]
        ordinals = {level.key: level.ordinal for level in levels}
        about = _about(files)
        venue = kinds["venue"][0] if kinds["venue"] else None
        venue_name = label(names_of(venue.properties.get("name"))) if venue else ""
        spaces, solids = _units(kinds, ordinals, notes)
        return Drawing(
            format=self.name,
            slug=str(about.get("slug") or files.stem),
            name=str(about.get("name") or venue_name or files.stem),
            attribution=str(about.get("attribution") or ""),
            level_height_m=_height_m(about),
            levels=tuple(levels),
            anchor=point_told(about.get("origin")),
            spaces=(*own.spaces, *spaces),
            openings=(*own.openings, *_openings(kinds, ordinals, notes)),
            entrances=(*own.entrances, *_entrances(kinds, ordinals, spaces, notes)),
            risers=(*own.risers, *_risers(kinds, spaces, notes)),
            shafts=tuple(own.shafts),
            solids=tuple(solids),
            fixtures=tuple(_fixtures(kinds, ordinals)),
            buildings=(
                *(replace(one, footprint=shapes.get(one.key)) for one in own.buildings),
                *_buildings(kinds),
            ),
            grounds=tuple(
                one.geometry
                for one in kinds["footprint"]
                if one.geometry is not None and not _is_parking(one)
            ),
            notes=tuple(notes),
        )


def _own_footprints(kinds: Kinds) -> dict[str, BaseGeometry]:
    """Returns by its first identifier the footprint of each building that the product wrote."""
    drawn = {
        str(key): one.geometry
        for one in kinds["footprint"]
        if one.geometry is not None and isinstance(one.properties.get("building_ids"), list)
        for key in one.properties["building_ids"]
    }
    return {
        text_of(told, "feature_id"): drawn[one.id]
        for one in kinds["building"]
        if isinstance(told := one.properties.get(MARK), dict) and one.id in drawn
    }


def _about(files: Files) -> Mapping[str, Any]:
    """Returns what `smartcis.json`, this product's own addition, says of the venue."""
    name = files.named("smartcis.json")
    about = json_of(files, name) if name else {}
    return about if isinstance(about, dict) else {}


def _height_m(about: Mapping[str, Any]) -> float:
    height_m = about.get("level_height_m")
    sound = isinstance(height_m, int | float) and 1.0 <= height_m <= 20.0  # noqa: PLR2004  # metres
    return float(height_m) if sound else LEVEL_HEIGHT_M  # type: ignore[arg-type]  # sound is a number


def _kinds(files: Files, notes: list[Note]) -> Kinds:
    kinds: dict[str, list[Feature]] = {kind: [] for kind in KINDS}
    if len(files.names) == 1:
        name = files.names[0]
        for feature in features_of(json_of(files, name), name, notes):
            kind = feature.raw.get("feature_type") or feature.properties.get("feature_type")
            if kind in kinds:
                kinds[kind].append(feature)
    else:
        for kind in KINDS:
            found = files.named(f"{kind}.json", f"{kind}.geojson")
            if found is None:
                continue
            try:
                kinds[kind] = features_of(json_of(files, found), PurePosixPath(found).name, notes)
            except ImportRefused as refused:
                if kind in {"level", "unit"}:
                    raise
                notes.append(Note(Finding.DROPPED, kind, found, refused.message))
    for kind in ("level", "unit"):
        if not kinds[kind]:
            raise MissingFile(
                f"the venue has no {kind}s: {kind}.geojson is absent or empty",
                found=", ".join(files.names[:20]),
                exists=["level.geojson", "unit.geojson"],
                attempt="give the folder or archive that holds both",
            )
    return kinds


def _levels(kinds: Kinds, notes: list[Note]) -> list[DrawnLevel]:
    found = []
    for level in kinds["level"]:
        names, short = (names_of(level.properties.get(key)) for key in ("name", "short_name"))
        raw = level.properties.get("ordinal")
        ordinal = level_of(raw)
        if ordinal is None:
            told = (level_of(text) for text in (*short.values(), *names.values()))
            ordinal = next((one for one in told if one is not None), None)
            if ordinal is None:
                raise BrokenFile(
                    f"level {level.id} has no ordinal, and its name tells none",
                    found=level.id,
                    attempt="give the level an ordinal: 0 is the ground level",
                )
            why = f"no ordinal: taken from its name {label(short) or label(names)!r}"
            notes.append(Note(Finding.CONCLUDED, "level", level.id, why))
        found.append(DrawnLevel(level.id, ordinal, names, label(short), level.geometry))
    return found


def _units(
    kinds: Kinds, ordinals: Mapping[str, float], notes: list[Note]
) -> tuple[list[DrawnSpace], list[DrawnSolid]]:
    occupants = _occupants(kinds)
    spaces, solids = [], []
    for unit in kinds["unit"]:
        level = _level(unit, ordinals, "unit", notes)
        if level is None:
            continue
        if unit.geometry is None or unit.geometry.area <= 0:
            notes.append(Note(Finding.DROPPED, "unit", unit.id, "it is not an area"))
            continue
        category = text_of(unit.properties, "category") or "unspecified"
        role = meaning(category) or (Role.SPACE, category)
        if role[0] in {Role.SOLID, Role.VOID}:
            encloses = role[0] is Role.SOLID
            solids.append(DrawnSolid(unit.id, level, unit.geometry, encloses=encloses))
            continue
        tags = _tags(unit)
        names = names_of(unit.properties.get("name")) or names_of(unit.properties.get("alt_name"))
        # Names that were made of tags ("Stairs") say no more than the category.
        ref = tags.get("ref") or tags.get("name") or ("" if tags else label(names))
        if tags.get("name") or (tags and ref):
            names = {"": tags.get("name") or ref}
        if not label(names) and unit.id in occupants:
            names = occupants[unit.id]
            ref = label(names)
        way = text_of(unit.properties, "osmId", "correlation_id")
        closed = text_of(unit.properties, "restriction").lower() in CLOSED
        spaces.append(
            DrawnSpace(unit.id, level, unit.geometry, category, names, ref, way, closed=closed)
        )
    return spaces, solids


def _tags(feature: Feature) -> Mapping[str, str]:
    """Returns OpenStreetMap tags, which IMDF made from them keeps."""
    tags = feature.properties.get("tags")
    return {k: v for k, v in tags.items() if isinstance(v, str)} if isinstance(tags, dict) else {}


def _occupants(kinds: Kinds) -> dict[str, Mapping[str, str]]:
    """Returns by unit the names of who is there: occupants at anchors, then amenities."""
    anchors = {
        one.id: str(one.properties.get("unit_id"))
        for one in kinds["anchor"]
        if one.properties.get("unit_id")
    }
    found: dict[str, Mapping[str, str]] = {}
    for one in kinds["occupant"]:
        unit = anchors.get(str(one.properties.get("anchor_id")))
        names = names_of(one.properties.get("name"))
        if unit and label(names):
            found.setdefault(unit, names)
    for one in kinds["amenity"]:
        names = names_of(one.properties.get("name"))
        units = one.properties.get("unit_ids")
        if label(names) and isinstance(units, list) and not _tags(one):
            for unit in units:
                found.setdefault(str(unit), names)
    return found


def _level(
    feature: Feature, ordinals: Mapping[str, float], what: str, notes: list[Note]
) -> float | None:
    """Returns the level a feature names; one without is on the only level there is."""
    known = feature.properties.get("level_id")
    if isinstance(known, str) and known in ordinals:
        return ordinals[known]
    if len(set(ordinals.values())) == 1:
        why = "it names no level of the file: put on the only one"
        notes.append(Note(Finding.CONCLUDED, what, feature.id, why))
        return next(iter(ordinals.values()))
    why = f"it stands on level {known!r}, which the file does not have"
    notes.append(Note(Finding.DROPPED, what, feature.id, why))
    return None


def _openings(
    kinds: Kinds, ordinals: Mapping[str, float], notes: list[Note]
) -> Iterator[DrawnOpening]:
    for opening in kinds["opening"]:
        level = _level(opening, ordinals, "opening", notes)
        if level is None:
            continue
        if opening.geometry is None:
            notes.append(Note(Finding.DROPPED, "opening", opening.id, "it is drawn nowhere"))
        elif text_of(opening.properties, "category").startswith(("automobile", "service")):
            notes.append(Note(Finding.DROPPED, "opening", opening.id, "it is not for walkers"))
        else:
            name = label(names_of(opening.properties.get("name")))
            yield DrawnOpening(opening.id, level, opening.geometry, name=name)


def _entrances(
    kinds: Kinds,
    ordinals: Mapping[str, float],
    spaces: Sequence[DrawnSpace],
    notes: list[Note],
) -> Iterator[DrawnEntrance]:
    levels = {space.key: space.level for space in spaces}
    unused: dict[str, int] = defaultdict(int)
    for amenity in kinds["amenity"]:
        category = text_of(amenity.properties, "category") or "unspecified"
        if category not in {"entry", "entrance"} or not isinstance(amenity.geometry, Point):
            unused[category] += 1
            continue
        tags = _tags(amenity)
        units = amenity.properties.get("unit_ids")
        named = [levels[unit] for unit in units or () if unit in levels] if units else []
        level = level_of(tags.get("level"))
        if level is None and not tags:
            level = named[0] if named else ordinals.get(str(amenity.properties.get("level_id")))
        name = tags.get("name", "") if tags else label(names_of(amenity.properties.get("name")))
        refused = "no public access" if tags.get("access") in PRIVATE else ""
        yield DrawnEntrance(amenity.id, level, amenity.geometry, name, refused)
    for category, count in sorted(unused.items()):
        for _ in range(count):
            why = "not used: units say the same"
            notes.append(Note(Finding.DROPPED, "amenity", category, why))


def _risers(kinds: Kinds, spaces: Sequence[DrawnSpace], notes: list[Note]) -> Iterator[DrawnRiser]:
    """Returns the relationships that join units of different levels."""
    known = {space.key: space for space in spaces}
    for one in kinds["relationship"]:
        kind = RISERS.get(text_of(one.properties, "category").split(".")[0])
        if kind is None:
            continue
        ends: list[Any] = [one.properties.get("origin"), one.properties.get("destination")]
        between = one.properties.get("intermediary")
        ends[1:1] = between if isinstance(between, list) else []
        stops = [known[end["id"]] for end in ends if _is_reference(end) and end["id"] in known]
        stops.sort(key=lambda space: space.level)
        if len({space.level for space in stops}) < 2:  # noqa: PLR2004  # a climb has two ends
            why = "its ends are not units of two levels"
            notes.append(Note(Finding.DROPPED, "relationship", one.id, why))
            continue
        if len({space.level for space in stops}) == len(stops):
            points = tuple((stop.level, _middle(stop.outline)) for stop in stops)
            yield DrawnRiser(one.id, kind, points)
        else:
            for lower, upper in pairwise(stops):
                if lower.level != upper.level:
                    points = (
                        (lower.level, _middle(lower.outline)),
                        (upper.level, _middle(upper.outline)),
                    )
                    yield DrawnRiser(f"{one.id}/{lower.key}", kind, points)


def _is_reference(end: Any) -> bool:
    return isinstance(end, dict) and isinstance(end.get("id"), str)


def _middle(shape: BaseGeometry) -> Point:
    return shapely.point_on_surface(shape)


def _fixtures(kinds: Kinds, ordinals: Mapping[str, float]) -> Iterator[DrawnFixture]:
    for kind in ("fixture", "kiosk"):
        for one in kinds[kind]:
            level = ordinals.get(str(one.properties.get("level_id")))
            if level is not None and one.geometry is not None:
                category = text_of(one.properties, "category") or kind
                yield DrawnFixture(one.id, level, one.geometry, category)


def _is_parking(footprint: Feature) -> bool:
    return _tags(footprint).get("amenity") == "parking"


def _buildings(kinds: Kinds) -> Iterator[DrawnBuilding]:
    shapes: dict[str, BaseGeometry] = {}
    for footprint in kinds["footprint"]:
        listed = footprint.properties.get("building_ids")
        if (
            footprint.geometry is not None
            and isinstance(listed, list)
            and not _is_parking(footprint)
        ):
            shapes.update({str(key): footprint.geometry for key in listed})
    inside = {
        str(key)
        for level in kinds["level"]
        if isinstance(level.properties.get("building_ids"), list)
        for key in level.properties["building_ids"]
    }
    for building in kinds["building"]:
        name = label(names_of(building.properties.get("name")))
        yield DrawnBuilding(building.id, name, shapes.get(building.id), building.id in inside)
