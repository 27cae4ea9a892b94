"""Formats: the exporters there are, by name and by the ending of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from smartcis.errors import Invalid
from smartcis.exporters.geojson import GeoJsonExporter
from smartcis.exporters.imdf import ImdfExporter
from smartcis.importers.drawing import Drawing


class Exporter(Protocol):
    """A format.

    Args:
        name: what requests call it.
        title: what people call it.
        endings: of files, the usual one first.
    """

    name: str
    title: str
    media_type: str
    endings: tuple[str, ...]

    def write(self, building: Drawing) -> bytes:
        """Returns a building in metres as the bytes of a file."""
        ...


EXPORTERS: tuple[Exporter, ...] = (ImdfExporter(), GeoJsonExporter())


def exporter_for(path: Path) -> Exporter:
    """Returns the exporter that writes files of this ending.

    Raises:
        Invalid: none does.
    """
    for one in EXPORTERS:
        if path.suffix.lower() in one.endings:
            return one
    raise Invalid(
        f"{path.name} has the ending of no format that is written",
        found=path.suffix or "no ending",
        exists=[ending for one in EXPORTERS for ending in one.endings],
        attempt="end the name in one of them",
    )
