"""IMDF: the building as an archive of one collection per feature type.

Source: Indoor Mapping Data Format 1.0.0 (OGC community standard 20-094).
"""

from __future__ import annotations

import io
import json
import zipfile
from collections import defaultdict
from typing import Any

import shapely
from shapely.geometry import mapping

from smartcis.exporters.features import Parts
from smartcis.importers.drawing import Drawing

LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the same building is the same bytes
KINDS = ("building", "level", "unit", "opening", "amenity", "relationship", "kiosk")


class ImdfExporter:
    """IMDF 1.0."""

    name = "imdf"
    title = "IMDF"
    media_type = "application/zip"
    endings: tuple[str, ...] = (".zip", ".imdf")

    def write(self, building: Drawing) -> bytes:
        """Returns the archive."""
        parts = Parts(building)
        kinds: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for part in parts:
            feature = {**part.feature(), "feature_type": part.kind}
            if part.kind == "building":
                if part.geometry is not None:
                    footprint = {"category": "ground", "name": None, "building_ids": [part.id]}
                    footprint_id = parts.id("footprint", part.id)
                    kinds["footprint"].append(
                        _feature("footprint", footprint_id, feature["geometry"], footprint)
                    )
                spot = _spot(part.geometry)
                feature["properties"] |= {"display_point": spot, "address_id": None}
                feature["geometry"] = None
            elif part.kind in {"level", "unit"}:
                feature["properties"]["display_point"] = _spot(part.geometry)
            kinds[part.kind].append(feature)
        kinds["venue"].append(_venue(parts))
        files: dict[str, Any] = {
            "manifest.json": {"version": "1.0.0", "language": "en", "generated_by": "SmartCIS"},
            "smartcis.json": {
                "slug": building.slug,
                "name": building.name,
                "attribution": building.attribution,
                "origin": building.anchor,
            },
        }
        for kind in ("venue", "footprint", *KINDS):
            if kinds[kind] or kind in {"level", "unit"}:
                collection = {"type": "FeatureCollection", "features": kinds[kind]}
                files[f"{kind}.geojson"] = collection
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, said in files.items():
                text = json.dumps(said, ensure_ascii=False, separators=(",", ":"))
                member = zipfile.ZipInfo(name, LONG_AGO)
                archive.writestr(member, text.encode(), zipfile.ZIP_DEFLATED)
        return held.getvalue()


def _venue(parts: Parts) -> dict[str, Any]:
    building = parts.building
    shapes = [one.outline for one in building.levels if one.outline is not None]
    shapes += [one.outline for one in building.spaces]
    around = shapely.envelope(shapely.geometrycollections(shapes))
    said = {
        "name": {"en": building.name},
        "category": "unspecified",
        "restriction": None,
        "hours": None,
        "phone": None,
        "website": None,
        "address_id": None,
        "display_point": _spot(around),
    }
    return _feature("venue", parts.id("venue", ""), mapping(around), said)


def _feature(kind: str, key: str, geometry: Any, said: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "Feature",
        "id": key,
        "feature_type": kind,
        "geometry": geometry,
        "properties": said,
    }


def _spot(shape: Any) -> Any:
    return None if shape is None else mapping(shapely.point_on_surface(shape))
