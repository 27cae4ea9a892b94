"""Formats: one file each; which one a path is of is found by what stands in it."""

from __future__ import annotations

from pathlib import Path

from smartcis.importers.drawing import Drawing, Importer
from smartcis.importers.errors import UnknownFormat
from smartcis.importers.files import Files
from smartcis.importers.formats.geojson import GeoJsonImporter
from smartcis.importers.formats.ifc import IfcImporter
from smartcis.importers.formats.imdf import ImdfImporter
from smartcis.importers.formats.indoorgml import IndoorGmlImporter
from smartcis.importers.formats.osm import OsmImporter

IMPORTERS: tuple[Importer, ...] = (
    ImdfImporter(),
    OsmImporter(),
    IfcImporter(),
    IndoorGmlImporter(),
    GeoJsonImporter(),
)


def drawing_of(path: Path) -> Drawing:
    """Reads a building of any format.

    Raises:
        ImportRefused: nothing there, no format known, or the file is broken.
    """
    files = Files(path)
    for importer in IMPORTERS:
        if importer.recognises(files):
            return importer.read(files)
    raise UnknownFormat(
        f"{path.name} is of no format that can be read",
        found=", ".join(files.names[:10]) or path.name,
        exists=[importer.name for importer in IMPORTERS],
        attempt="export the building in one of these formats",
    )
