"""The building as a file: `?format=imdf` or `?format=geojson`."""

from __future__ import annotations

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from smartcis.api.permissions import StaffOnly
from smartcis.api.schema import READ, answers
from smartcis.exporters.formats import EXPORTERS
from smartcis.exporters.geojson import GeoJsonExporter
from smartcis.exporters.imdf import ImdfExporter
from smartcis.exporters.stored import stored_drawing

CHUNK_BYTES = 65_536


class ImdfRenderer(BaseRenderer):
    """Chosen by `?format=imdf`, or where nothing is asked for."""

    media_type = ImdfExporter.media_type
    format = ImdfExporter.name


class GeoJsonBuildingRenderer(BaseRenderer):
    """Chosen by `?format=geojson`."""

    media_type = GeoJsonExporter.media_type
    format = GeoJsonExporter.name


class BuildingExport(APIView):
    """The building as a file; for staff."""

    permission_classes = (StaffOnly,)
    renderer_classes = (ImdfRenderer, GeoJsonBuildingRenderer)

    @extend_schema(
        operation_id="exportBuilding",
        responses=answers(
            {
                ImdfExporter.media_type: OpenApiTypes.BINARY,
                GeoJsonExporter.media_type: OpenApiTypes.OBJECT,
            },
            *(*READ, 401, 403),
        ),
    )
    def get(self, request: Request) -> StreamingHttpResponse:
        """Returns a file that importing reads back to the same building."""
        chosen = request.accepted_renderer.format
        exporter = next(one for one in EXPORTERS if one.name == chosen)
        building = stored_drawing()
        data = exporter.write(building)
        name = f"{building.slug}{exporter.endings[0]}"
        return StreamingHttpResponse(
            (data[at : at + CHUNK_BYTES] for at in range(0, len(data), CHUNK_BYTES)),
            content_type=exporter.media_type,
            headers={
                "Content-Disposition": f'attachment; filename="{name}"',
                "Content-Length": str(len(data)),
            },
        )

    def handle_exception(self, exc: Exception) -> Response:
        """Answers with a problem, in JSON whatever was asked for."""
        self.request.accepted_renderer = JSONRenderer()
        self.request.accepted_media_type = JSONRenderer.media_type
        return super().handle_exception(exc)
