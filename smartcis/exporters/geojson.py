"""GeoJSON: the building as one collection, a level and a kind on every feature."""

from __future__ import annotations

import json
from typing import Any

from smartcis.exporters.features import BuildingPart, Parts
from smartcis.importers.drawing import Drawing, label
from smartcis.importers.level_names import tidy

KINDS = {"opening": "door", "amenity": "entrance"}
"""IMDF feature type → the word that plans of GeoJSON use."""


class GeoJsonExporter:
    """GeoJSON (RFC 7946)."""

    name = "geojson"
    title = "GeoJSON"
    media_type = "application/geo+json"
    endings: tuple[str, ...] = (".geojson",)

    def write(self, building: Drawing) -> bytes:
        """Returns the collection."""
        collection = {
            "type": "FeatureCollection",
            "id": building.slug,
            "name": building.name,
            "attribution": building.attribution,
            "origin": building.anchor,
            "levels": [
                {"ordinal": tidy(one.ordinal), "name": label(one.names)} for one in building.levels
            ],
            "features": [_feature(part) for part in Parts(building)],
        }
        return json.dumps(collection, ensure_ascii=False, separators=(",", ":")).encode()


def _feature(part: BuildingPart) -> dict[str, Any]:
    kind = part.said["category"] if part.kind in {"unit", "relationship"} else part.kind
    feature = part.feature(kind=KINDS.get(kind, kind))
    said = feature["properties"]
    names = said.get("name")
    for reference in ("origin", "destination", "intermediary"):
        said.pop(reference, None)  # IMDF alone speaks of feature types
    said["name"] = names["en"] if names else None
    if short := said.get("short_name"):
        said["short_name"] = short["en"]
    return feature
