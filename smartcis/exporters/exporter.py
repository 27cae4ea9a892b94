"""Exporter: what every format of the export is."""

from __future__ import annotations

from typing import Protocol

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
