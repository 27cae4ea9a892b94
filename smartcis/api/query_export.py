"""Rows as files: CSV and GeoJSON, written while they are sent.

CSV       RFC 4180; a column's unit stands behind its name, `celsius [°C]`. NULL is nothing at
          all, an empty text is "", an array [1, 2]. A text that a spreadsheet would take for a
          formula has a ' in front; so has one that begins with ' and would be such a text
          without it.
GeoJSON   RFC 7946, in degrees; a row's level and metres are properties beside its own. Rows
          nowhere in the building have a null geometry.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import repeat
from typing import Any

from django.http import StreamingHttpResponse
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from aspen.algebra.arrays import spelt
from aspen.model.arrays import Array
from aspen.model.schema import Row, Type, Value
from smartcis.access.limits import spend
from smartcis.access.owner import Owner
from smartcis.api.fields import columns_body
from smartcis.api.locate_rows import LOCATORS, Location, located_by, locator
from smartcis.errors import Invalid
from smartcis.importers.geometry.projection import Projection
from smartcis.models import Venue

CHUNK_ROWS = 500
QUOTED = re.compile(r'[",\r\n]')
FORMULA = re.compile(r"['\s]*[=+\-@＝＋－＠\t\r\n]")  # noqa: RUF001  # full-width signs count too


@dataclass(frozen=True, slots=True)
class ExportTable:
    """Rows to be written.

    Args:
        name: of the file, without its ending.
        columns: name, type and unit of each.
    """

    name: str
    columns: Sequence[tuple[str, str, str]]
    rows: Sequence[Row]
    epoch: int
    at_s: float

    @property
    def names(self) -> list[str]:
        """The columns' names."""
        return [name for name, _, _ in self.columns]


class CsvRenderer(BaseRenderer):
    """Chosen by `Accept: text/csv` or `?format=csv`."""

    media_type = "text/csv"
    format = "csv"

    @staticmethod
    def lines(table: ExportTable) -> Iterator[str]:
        """Returns a table's lines."""
        yield _line(f"{name} [{unit}]" if unit else name for name, _, unit in table.columns)
        numbers = [Type(kind).numeric for _, kind, _ in table.columns]
        for row in table.rows:
            yield _line(row, numbers)


class GeoJsonRenderer(BaseRenderer):
    """Chosen by `Accept: application/geo+json` or `?format=geojson`."""

    media_type = "application/geo+json"
    format = "geojson"

    @staticmethod
    def lines(table: ExportTable) -> Iterator[str]:
        """Returns a table as a FeatureCollection, a line for each row.

        Raises:
            Invalid: no column says where a row is.
        """
        if located_by(table.names) is None:
            raise Invalid(
                "no column says where these rows are",
                found=", ".join(table.names),
                exists=["x_m, y_m and level_id", *LOCATORS[1:]],
                attempt="add one of them to the SELECT, or ask for CSV",
            )
        return _features(table, locator(table.names, table.rows), _degrees())


EXPORTS: tuple[type[CsvRenderer | GeoJsonRenderer], ...] = (CsvRenderer, GeoJsonRenderer)


class Exporting(APIView):
    """A view that may answer with a file; whatever else it says is JSON."""

    renderer_classes = (JSONRenderer, *EXPORTS)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Looks whether the client may have more rows; how many it gets is counted with them."""
        super().initial(request, *args, **kwargs)
        spend("rows", Owner.of(request), 0)

    def plainly(self) -> None:
        """Answers in JSON whatever was asked for."""
        self.request.accepted_renderer = JSONRenderer()
        self.request.accepted_media_type = JSONRenderer.media_type

    def handle_exception(self, exc: Exception) -> Response:
        """Answers with a problem."""
        self.plainly()
        return super().handle_exception(exc)


def exported(table: ExportTable, request: Request) -> StreamingHttpResponse | None:
    """Returns a table in the form a request asks for; None where that is plain JSON.

    Its rows count as had by whoever asks.
    """
    chosen = request.accepted_renderer
    spend("rows", Owner.of(request), len(table.rows), afterwards=True)
    if not isinstance(chosen, EXPORTS):
        return None
    kept = re.sub(r"[^A-Za-z0-9_-]+", "-", table.name).strip("-")[:60] or "rows"
    return StreamingHttpResponse(
        _chunks(chosen.lines(table)),
        content_type=f"{chosen.media_type}; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{kept}.{chosen.format}"'},
    )


def _chunks(lines: Iterable[str]) -> Iterator[str]:
    held: list[str] = []
    for line in lines:
        held.append(line)
        if len(held) == CHUNK_ROWS:
            yield "".join(held)
            held.clear()
    yield "".join(held)


def _line(values: Iterable[Value], numbers: Iterable[bool] = repeat(False)) -> str:
    return ",".join(map(_cell, values, numbers)) + "\r\n"


def _cell(value: Value, number: bool) -> str:  # noqa: FBT001  # called per cell
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = (spelt(value) or "") if isinstance(value, Array) else str(value)
    if isinstance(value, str) and not number and FORMULA.match(text):
        text = f"'{text}"
    if text and not QUOTED.search(text):
        return text
    return f'"{text.replace(chr(34), chr(34) * 2)}"'


def _degrees() -> Callable[[Location], list[float]]:
    """Returns the function from metres of the building to longitude and latitude."""
    venue = Venue.objects.first()
    lon, lat = (0.0, 0.0) if venue is None else (venue.origin_lon_deg, venue.origin_lat_deg)
    projection = Projection(lon, lat)
    return lambda location: [round(d, 7) for d in projection.degrees(location.x_m, location.y_m)]


def _features(
    table: ExportTable,
    where: Callable[[Row], Location | None],
    degrees: Callable[[Location], list[float]],
) -> Iterator[str]:
    columns = columns_body(table.columns)
    head = {"columns": columns, "epoch": table.epoch, "at_s": table.at_s, "total": len(table.rows)}
    yield f'{{"type":"FeatureCollection",{_json(head)[1:-1]},"features":[\n'
    for number, row in enumerate(table.rows):
        location = where(row)
        feature: dict[str, Any] = {"type": "Feature", "geometry": None, "properties": {}}
        if location is not None:
            feature["geometry"] = {"type": "Point", "coordinates": degrees(location)}
            feature["properties"] = asdict(location)
        feature["properties"] |= {
            name: _finite(value) for name, value in zip(table.names, row, strict=True)
        }
        yield f"{',' if number else ''}{_json(feature)}\n"
    yield "]}\n"


def _finite(value: Value) -> Value:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
