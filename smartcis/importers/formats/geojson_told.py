"""What the features of GeoJSON tell: of which level they are, of which kind, and their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from smartcis.importers.drawing import Finding, Names, Note
from smartcis.importers.errors import ImportRefused, NothingDrawn
from smartcis.importers.files import Files
from smartcis.importers.formats.geojson_shapes import Feature, features_of, json_of, names_of
from smartcis.importers.formats.osm_tags import is_indoor, kind_of, names_of_tags
from smartcis.importers.formats.own_features import point_told
from smartcis.importers.level_names import level_in, level_of, levels_of
from smartcis.importers.words import Role, meaning, plain

ENDINGS = (".geojson", ".json", ".geojsonl")
LEVEL_KEYS = (
    *("level", "levels", "ordinal", "floor", "storey", "story", "z_order", "level_ordinal"),
    *("floor_level", "level_number", "floor_number", "floor_num", "levelno", "floorno", "etage"),
    *("geschoss", "stockwerk", "ebene", "piso", "planta", "niveau", "verdieping", "building_level"),
    *("floor_name", "level_name", "level_id", "floor_id", "levelid", "floorid", "floor_ref", "z"),
)
KIND_KEYS = (
    *("feature_type", "featuretype", "indoor", "type", "kind", "category", "class", "room_type"),
    *("roomtype", "space_type", "spacetype", "subtype", "usage", "use", "function", "nutzung"),
    *("layer", "element", "object_type", "amenity", "room", "highway", "fclass"),
)
NAME_KEYS = ("name", "title", "label", "room_name", "roomname", "bezeichnung", "nom", "nombre")
REF_KEYS = (
    *("ref", "room_number", "roomnumber", "room_no", "roomno", "number", "room_id", "code"),
    *("raumnummer", "raum_nr", "room_code"),
)
MOST_UNKNOWN = 40  # level names that mean nothing: more are no levels


class Collections:
    """The features of some files.

    Args:
        files: one collection or many, perhaps with a list of levels beside them.
        notes: receives what is not taken as it stands.
    """

    def __init__(self, files: Files, notes: list[Note]) -> None:
        self.slug, self.title, self.attribution, self.crs = files.stem, "", "", ""
        self.anchor: tuple[float, float] | None = None
        self.notes = notes
        self.names: dict[float, Names] = {}
        self._labels: dict[str, float] = {}
        self.drawn = self._collections(files)
        self._learn_labels(self.drawn)

    def _collections(self, files: Files) -> list[tuple[Feature, float | None]]:
        """Returns all features, each with the level its file is of."""
        names = files.ending(*ENDINGS)
        read: dict[str, Any] = {}
        for name in names:
            try:
                read[name] = json_of(files, name)
            except ImportRefused as refused:
                if len(names) == 1:
                    raise
                self.notes.append(Note(Finding.DROPPED, "file", name, refused.message))
        told = self._manifests(read)
        found: list[tuple[Feature, float | None]] = []
        collections = {name: data for name, data in read.items() if _is_collection(data)}
        for name, data in collections.items():
            stem = PurePosixPath(name).name
            level = next((told[key] for key in sorted(told, reverse=True) if key in stem), None)
            for key in ("z_order", "level", "ordinal", "floor"):
                if level is None:
                    level = level_of(data.get(key))
            if level is None:
                level = level_in(stem)
            crs = data.get("crs")
            if isinstance(crs, dict) and isinstance(crs.get("properties"), dict):
                self.crs = str(crs["properties"].get("name") or self.crs)
            features = features_of(data, name if len(collections) > 1 else "file", self.notes)
            found += [(feature, level) for feature in features]
        if not found:
            raise NothingDrawn("the files hold no feature that can be read", found=files.path.name)
        return found

    def _manifests(self, read: Mapping[str, Any]) -> dict[str, float]:
        """Returns by part of a file's name the level that some file beside them gives it."""
        told: dict[str, float] = {}
        for data in read.values():
            if not isinstance(data, dict) or not isinstance(data.get("levels"), list):
                continue
            self.anchor = point_told(data.get("origin")) or self.anchor
            self.slug = str(data.get("id") or self.slug)
            self.title = str(data.get("name") or self.title)
            owner = data.get("attribution") or data.get("owner")
            self.attribution = str(owner or self.attribution)
            for place, one in enumerate(data["levels"]):
                if not isinstance(one, dict):
                    continue
                ordinal = next(
                    (
                        found
                        for key in ("z_order", "ordinal", "level", "index", "name", "id")
                        if (found := level_of(one.get(key))) is not None
                    ),
                    float(place),
                )
                readable = names_of(one.get("readable_name") or one.get("name"))
                self.names[ordinal] = readable
                for key in ("filename", "id"):
                    if isinstance(one.get(key), str) and one[key]:
                        told[PurePosixPath(one[key]).stem] = ordinal
        return told

    def _learn_labels(self, drawn: Sequence[tuple[Feature, float | None]]) -> None:
        """Gives ordinals to level labels that mean none by themselves, in order of appearance."""
        unknown: dict[str, None] = {}
        for feature, _ in drawn:
            keys = plain_keys(feature)
            role = role_of(feature, keys)
            own = first_told(keys, "ordinal", "level", "floor", "z_order", "name")
            if role and role[0] is Role.OUTLINE and (ordinal := level_of(own)) is not None:
                self._labels[feature.id] = ordinal
        for feature, level in drawn:
            keys = plain_keys(feature)
            if level is None and not self.told(feature, keys):
                raw = first_told(keys, *LEVEL_KEYS)
                if isinstance(raw, str) and raw.strip():
                    unknown.setdefault(raw.strip())
        if len(unknown) > MOST_UNKNOWN:
            return
        taken = set(self._labels.values())
        following = max(taken, default=-1.0) + 1
        for text in unknown:
            if text not in self._labels:
                self._labels[text] = following
                self.names.setdefault(following, {"": text})
                why = f"its name tells no ordinal: taken as level {following:g}"
                self.notes.append(Note(Finding.CONCLUDED, "level", text, why))
                following += 1

    def told(self, feature: Feature, keys: Mapping[str, Any]) -> list[float]:
        """Returns the levels a feature itself names."""
        for source in (keys, {"levels": feature.raw.get("levels")}):
            for key in LEVEL_KEYS:
                raw = source.get(key)
                if raw is None or isinstance(raw, bool):
                    continue
                if isinstance(raw, str) and raw.strip() in self._labels:
                    return [self._labels[raw.strip()]]
                found = levels_of(raw)
                if not found and isinstance(raw, str) and key not in {"level_id", "floor_id"}:
                    guess = level_in(raw)
                    found = [] if guess is None else [guess]
                if found:
                    return found
        return []


def role_of(feature: Feature, keys: Mapping[str, Any]) -> tuple[Role, str] | None:
    """Returns the role of a feature and, of a space, its category; None when nothing tells."""
    tags = {key: text for key, text in feature.properties.items() if isinstance(text, str)}
    nested = feature.properties.get("tags")
    if isinstance(nested, dict):
        tags |= {key: text for key, text in nested.items() if isinstance(text, str)}
    if is_indoor(tags) and (found := kind_of(tags)) is not None and found[0] is not Role.BUILDING:
        return found
    unsure: tuple[Role, str] | None = None
    for key in KIND_KEYS:
        found = meaning(keys.get(key))
        if found and found[1] not in {"room", "unspecified"}:
            return found
        unsure = unsure or found
    return unsure


def _is_collection(data: Any) -> bool:
    return isinstance(data, dict) and (
        isinstance(data.get("features"), list) or data.get("type") == "Feature"
    )


def plain_keys(feature: Feature) -> dict[str, Any]:
    """Returns the properties under names in small letters."""
    return {plain(key).replace("__", "_"): one for key, one in feature.properties.items()}


def first_told(keys: Mapping[str, Any], *wanted: str) -> Any:
    """Returns the first of some properties that is there."""
    return next((keys[key] for key in wanted if keys.get(key) is not None), None)


def names_told(feature: Feature, keys: Mapping[str, Any]) -> Names:
    """Returns the names of a feature in all its languages."""
    for key in NAME_KEYS:
        found = names_of(keys.get(key))
        if found:
            tagged = {k: v for k, v in feature.properties.items() if isinstance(v, str)}
            return {**names_of_tags(tagged), **found} if "" in found else found
    return {}
