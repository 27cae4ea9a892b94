"""Inventories: bring a table of machines, sensors or rooms, see what it changes, write it."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from smartcis.access.owner import Owner
from smartcis.actions.import_inventory import InventoryReport, InventoryRow, import_inventory
from smartcis.api.fields import body_of
from smartcis.api.permissions import StaffOnly
from smartcis.api.problems import ErrorSerializer
from smartcis.api.schema import SEND, answers


class InventoryFileSerializer(serializers.Serializer[Any]):
    """A table of machines, sensors or rooms."""

    file = serializers.FileField(help_text="comma, semicolon or tab between cells, a header first")
    preview = serializers.BooleanField(default=True, help_text="write nothing")
    remove = serializers.BooleanField(
        default=False, help_text="machines or sensors go that the table does not name"
    )


class InventoryRowSerializer(serializers.Serializer[InventoryRow]):
    """A row, and what becomes of it."""

    number = serializers.IntegerField(help_text="line of the file; 0 for what it does not name")
    key = serializers.CharField(allow_blank=True, help_text="mid, sid or rid")
    outcome = serializers.CharField(help_text="added, changed, unchanged, removed or refused")
    changes = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField(allow_blank=True)),
        help_text="by column before and after",
    )
    column = serializers.CharField(allow_blank=True, help_text="the header above the cell at fault")
    refusal = ErrorSerializer(allow_null=True)


class InventoryReportSerializer(serializers.Serializer[InventoryReport]):
    """What a table says, and what it changes."""

    thing = serializers.CharField(help_text="machines, sensors or rooms")
    columns = serializers.DictField(
        child=serializers.CharField(), help_text="column → what the file calls it"
    )
    ignored = serializers.ListField(child=serializers.CharField(), help_text="other headers")
    preview = serializers.BooleanField(help_text="whether nothing was written")
    counts = serializers.DictField(child=serializers.IntegerField(), help_text="by outcome")
    rows = InventoryRowSerializer(many=True)


class Inventory(APIView):
    """Machines, sensors and names of rooms from a table; for staff."""

    permission_classes = (StaffOnly,)
    parser_classes = (MultiPartParser,)

    @extend_schema(
        operation_id="importInventory",
        request={"multipart/form-data": InventoryFileSerializer},
        responses=answers(InventoryReportSerializer, *SEND, 401, 403),
    )
    def post(self, request: Request) -> Response:
        """Says of each row what it changes; writes what is not refused, unless it is a preview."""
        wanted = body_of(InventoryFileSerializer, request)
        report = import_inventory(
            wanted["file"].read(),
            Owner.of(request),
            preview=wanted["preview"],
            remove=wanted["remove"],
        )
        return Response(InventoryReportSerializer(report).data)
