"""Points: what a Brick model or Haystack tags say of a source's devices, and placing these."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from smartcis.access.owner import Owner
from smartcis.actions.accept_proposals import AcceptedProposals, accept_proposals
from smartcis.actions.describe_points import LocatedPoint, PointsReport, describe_points
from smartcis.actions.forget_points import forget_points
from smartcis.actions.look_at_points import look_at_points
from smartcis.api.fields import SentenceField, body_of
from smartcis.api.permissions import StaffOnly
from smartcis.api.schema import READ, SEND, answers, endpoint
from smartcis.importers.points.described import LARGEST_BYTES
from smartcis.models import DescribedPoint, SeenDevice, Source
from smartcis.models.lookup import found

NAMES = "under which a device may be heard"


class DescribedPointSerializer(serializers.ModelSerializer[DescribedPoint]):
    """A point that was understood."""

    names = serializers.ListField(child=serializers.CharField(), help_text=NAMES)
    unit = serializers.CharField(source="measured_in", allow_blank=True)

    class Meta:
        model = DescribedPoint
        fields = ("point", "names", "title", "kind", "unit", "rid", "equipment")


class LocatedPointSerializer(serializers.Serializer[LocatedPoint]):
    """A point of a description, and its room."""

    point = serializers.CharField(source="thing.point", help_text="its id in the description")
    names = serializers.ListField(
        source="thing.names", child=serializers.CharField(), help_text=NAMES
    )
    title = serializers.CharField(source="thing.title")
    kind = serializers.CharField(source="thing.kind", help_text="of sensor")
    unit = serializers.CharField(source="thing.unit", allow_blank=True)
    rid = serializers.CharField(allow_blank=True, help_text="its room, empty for none")
    doubt = SentenceField(allow_blank=True, help_text="why it has none")
    equipment = serializers.CharField(source="thing.equipment", allow_blank=True)


class PointsReportSerializer(serializers.Serializer[PointsReport]):
    """What a description says."""

    points = LocatedPointSerializer(many=True)
    strange = serializers.ListField(child=SentenceField(), help_text="what was not understood")


class DescriptionSerializer(serializers.Serializer[Any]):
    """A description of points."""

    file = serializers.FileField(
        help_text=f"a Brick model (Turtle) or Haystack tags (JSON), up to {LARGEST_BYTES} bytes"
    )
    preview = serializers.BooleanField(default=True, help_text="keep nothing")


class AcceptedProposalsSerializer(serializers.Serializer[AcceptedProposals]):
    """What became of the devices of a source that have a proposal."""

    placed = serializers.IntegerField(help_text="devices")
    doubts = serializers.ListField(
        child=SentenceField(), help_text="why others were not, a sentence each"
    )


class FeedPoints(generics.ListAPIView[DescribedPoint]):
    """What a building's description says of a source's devices; for staff."""

    permission_classes = (StaffOnly,)
    parser_classes = (MultiPartParser,)
    serializer_class = DescribedPointSerializer
    queryset = DescribedPoint.objects.order_by("pk")

    @extend_schema(
        operation_id="listFeedPoints",
        responses=answers(DescribedPointSerializer(many=True), *READ, 401, 403),
    )
    def get(self, request: Request, source: str) -> Response:
        """Lists the points that are kept."""
        page = self.paginate_queryset(look_at_points(source, Owner.of(request)))
        return self.get_paginated_response(DescribedPointSerializer(page, many=True).data)

    @extend_schema(
        operation_id="describeFeedPoints",
        request={"multipart/form-data": DescriptionSerializer},
        responses=answers(PointsReportSerializer, *SEND, 401, 403, 404),
    )
    def post(self, request: Request, source: str) -> Response:
        """Says what is understood; keeps it instead of what was, unless it is a preview."""
        wanted = body_of(DescriptionSerializer, request)
        data = wanted["file"].read(LARGEST_BYTES + 1)
        report = describe_points(source, data, Owner.of(request), preview=wanted["preview"])
        return Response(PointsReportSerializer(report).data)

    @endpoint(None, 401, 403, 404, 406, status=204, operation_id="removeFeedPoints")
    def delete(self, request: Request, source: str) -> None:
        """Forgets them; devices stay where they were placed."""
        forget_points(source, Owner.of(request))


class FeedPointsPlace(APIView):
    """Placing devices as the description proposes."""

    permission_classes = (StaffOnly,)

    @endpoint(
        AcceptedProposalsSerializer,
        *(400, 401, 403, 404, 406, 413, 415),
        request=None,
        operation_id="placeFeedPoints",
    )
    def post(self, request: Request, source: str) -> AcceptedProposals:
        """Places the devices of which kind, unit and room leave no doubt."""
        one = found(Source, source, "source")
        return accept_proposals(SeenDevice.objects.filter(source=one), Owner.of(request))
