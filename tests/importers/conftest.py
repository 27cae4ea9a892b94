"""The shipped building, and small buildings made of rectangles."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.smartcis.conftest import furnished, ulm

__all__ = ["furnished", "ulm"]


LEVEL = "00000000-0000-0000-0000-00000000001a"
PER_M = 1 / 111_195.08  # degrees per metre at the equator, where x and y scale alike


def rectangle(x, y, width, height):
    corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height), (x, y)]
    return {
        "type": "Polygon",
        "coordinates": [[[cx * PER_M, cy * PER_M] for cx, cy in corners]],
    }


def unit(name, box, category="room", level=LEVEL):
    return {
        "type": "Feature",
        "feature_type": "unit",
        "id": f"unit-{name}",
        "geometry": rectangle(*box),
        "properties": {"category": category, "name": {"en": name}, "level_id": level},
    }


def entrance(x, y, level="0"):
    return {
        "type": "Feature",
        "feature_type": "amenity",
        "id": f"entrance-{x}-{y}",
        "geometry": {"type": "Point", "coordinates": [x * PER_M, y * PER_M]},
        "properties": {"category": "entry", "tags": {"entrance": "yes", "level": level}},
    }


def opening(x, y, level=LEVEL):
    """A doorway one metre wide in a wall that runs east."""
    line = [[(x - 0.5) * PER_M, y * PER_M], [(x + 0.5) * PER_M, y * PER_M]]
    return {
        "type": "Feature",
        "feature_type": "opening",
        "id": f"opening-{x}-{y}",
        "geometry": {"type": "LineString", "coordinates": line},
        "properties": {"category": "pedestrian", "level_id": level},
    }


def write_archive(folder: Path, units, amenities=(), levels=None, openings=()) -> Path:
    """Write an IMDF folder; one level unless told otherwise."""
    levels = levels or [(LEVEL, 0)]
    folder.mkdir(parents=True, exist_ok=True)
    kinds = {
        "venue": [
            {
                "type": "Feature",
                "id": "venue",
                "geometry": rectangle(0, 0, 100, 100),
                "properties": {"name": {"en": "Test house"}},
            }
        ],
        "level": [
            {
                "type": "Feature",
                "id": level,
                "geometry": rectangle(0, 0, 60, 30),
                "properties": {"ordinal": ordinal, "name": {"en": f"Level {ordinal}"}},
            }
            for level, ordinal in levels
        ],
        "unit": units,
        "amenity": list(amenities),
        "opening": list(openings),
    }
    for kind, features in kinds.items():
        collection = {"type": "FeatureCollection", "features": features}
        (folder / f"{kind}.json").write_text(json.dumps(collection))
    return folder


@pytest.fixture
def corridor_house(tmp_path) -> Path:
    """Two rows of rooms along a corridor with an entrance at its west end."""
    units = [unit("corridor", (0, 5, 20, 2), "walkway")]
    units += [unit(f"N{k}", (4 * k, 7, 4, 5)) for k in range(5)]
    units += [unit(f"S{k}", (4 * k, 0, 4, 5)) for k in range(5)]
    return write_archive(tmp_path / "house", units, [entrance(0, 6)])
