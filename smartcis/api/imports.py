"""Imports of buildings: bring a file, look at what would come of it, accept or undo."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from smartcis.access.owner import Owner
from smartcis.actions.accept_import import accept_import
from smartcis.actions.begin_import import begin_import
from smartcis.actions.discard_import import discard_import
from smartcis.actions.undo_import import undo_import
from smartcis.api.fields import Wanted, body_of
from smartcis.api.permissions import StaffOnly
from smartcis.api.problems import ErrorSerializer
from smartcis.api.schema import EDIT, READ, SEND, answers, endpoint
from smartcis.models import BuildingImport
from smartcis.models.lookup import found


class ImportNoteSerializer(serializers.Serializer[Any]):
    """One thing of the file that was not taken as it stood."""

    finding = serializers.CharField(help_text="concluded, repaired or dropped")
    what = serializers.CharField()
    where = serializers.CharField(allow_blank=True, help_text="the file's own identifier")
    why = serializers.CharField()
    level_id = serializers.CharField(allow_blank=True)
    x_m = serializers.FloatField(allow_null=True)
    y_m = serializers.FloatField(allow_null=True)


class UnreachedSerializer(serializers.Serializer[Any]):
    """A room that no entrance leads to."""

    rid = serializers.CharField()
    level_id = serializers.CharField()
    reason = serializers.CharField()


class RenamedSerializer(serializers.Serializer[Any]):
    """A room that is called otherwise."""

    rid = serializers.CharField()
    before = serializers.CharField(allow_blank=True)
    after = serializers.CharField(allow_blank=True)


class RoomChangesSerializer(serializers.Serializer[Any]):
    """What becomes of the rooms that are there."""

    added = serializers.ListField(child=serializers.CharField())
    removed = serializers.ListField(child=serializers.CharField())
    renamed = RenamedSerializer(many=True)
    moved = serializers.ListField(child=serializers.CharField())


class RowsWrittenSerializer(serializers.Serializer[Any]):
    """How many rows of which table."""

    created = serializers.DictField(child=serializers.IntegerField())
    updated = serializers.DictField(child=serializers.IntegerField())
    deleted = serializers.DictField(child=serializers.IntegerField())


class ImportReportSerializer(serializers.Serializer[Any]):
    """What was found in a file, and what accepting it changes."""

    format = serializers.CharField()
    slug = serializers.CharField()
    name = serializers.CharField()
    attribution = serializers.CharField(allow_blank=True)
    adds = serializers.CharField(
        allow_blank=True,
        default="",
        help_text="as which drawing the building comes beside those that are there; empty for none",
    )
    replaces = serializers.CharField(
        allow_blank=True, help_text="another building that is removed; empty for none"
    )
    buildings = serializers.IntegerField()
    levels = serializers.IntegerField()
    units = serializers.IntegerField(help_text="drawn rooms, corridors, stairs and lifts")
    units_reached = serializers.IntegerField(help_text="from an entrance")
    doors = serializers.IntegerField(help_text="drawn")
    doors_concluded = serializers.IntegerField()
    entrances = serializers.IntegerField(help_text="drawn")
    entrances_concluded = serializers.IntegerField()
    unreached = UnreachedSerializer(many=True)
    notes = ImportNoteSerializer(many=True)
    rooms = RoomChangesSerializer()
    put_elsewhere = serializers.ListField(
        child=serializers.CharField(), help_text="what stood on points that are gone"
    )
    rows = RowsWrittenSerializer()


class ImportSerializer(serializers.ModelSerializer[BuildingImport]):
    """A building's file on its way to being the building."""

    report = ImportReportSerializer(allow_null=True, read_only=True)
    refusal = ErrorSerializer(allow_null=True, read_only=True)

    class Meta:
        model = BuildingImport
        fields = (
            *("id", "name", "account", "at", "state", "step", "add", "undoable", "refusal"),
            "report",
        )
        read_only_fields = fields


class ImportFileSerializer(serializers.Serializer[Any]):
    """A file to import."""

    file = serializers.FileField(help_text="of any format that can be read, or an archive")
    add = serializers.BooleanField(
        default=False, help_text="its building comes beside those that are there"
    )


class AcceptSerializer(serializers.Serializer[Any]):
    """How to accept an import."""

    replace = serializers.BooleanField(
        default=False, help_text="another building may be removed, with all that stands in it"
    )


class Imports(generics.ListAPIView[BuildingImport]):
    """Imports of buildings; for staff."""

    permission_classes = (StaffOnly,)
    parser_classes = (MultiPartParser,)
    serializer_class = ImportSerializer
    queryset = BuildingImport.objects.defer("plan", "changes")

    @extend_schema(responses=answers(ImportSerializer(many=True), *READ, 401, 403))
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Lists them, the newest first."""
        return super().get(request, *args, **kwargs)

    @extend_schema(
        request={"multipart/form-data": ImportFileSerializer},
        responses=answers(ImportSerializer, *SEND, 401, 403, 503, status=202),
    )
    def post(self, request: Request) -> Response:
        """Brings a file; it is read at once, and nothing changes before it is accepted."""
        wanted = body_of(ImportFileSerializer, request)
        file, owner = wanted["file"], Owner.of(request)
        made = begin_import(file.name or "", file.chunks(), owner, add=wanted["add"])
        return Response(ImportSerializer(made).data, 202)


class ImportDetail(APIView):
    """One import."""

    permission_classes = (StaffOnly,)

    @endpoint(ImportSerializer, *READ, 401, 403)
    def get(self, _request: Request, number: int) -> BuildingImport:
        """Returns how far it is, and what was found."""
        return found(BuildingImport, number, "import")

    @endpoint(None, 401, 403, 404, 406, 409, status=204)
    def delete(self, request: Request, number: int) -> None:
        """Removes one that is not the building, with its file."""
        discard_import(number, Owner.of(request))


class ImportAccept(APIView):
    """Accepting an import."""

    permission_classes = (StaffOnly,)

    @endpoint(
        ImportSerializer,
        *EDIT,
        409,
        503,
        takes=AcceptSerializer,
        status=202,
        operation_id="acceptImport",
    )
    def post(self, request: Request, wanted: Wanted, number: int) -> BuildingImport:
        """Makes it the building, as it was read; look again for when it is."""
        return accept_import(number, Owner.of(request), replace=wanted["replace"])


class ImportUndo(APIView):
    """Undoing an import."""

    permission_classes = (StaffOnly,)

    @endpoint(
        ImportSerializer,
        401,
        403,
        404,
        406,
        409,
        503,
        status=202,
        request=None,
        operation_id="undoImport",
    )
    def post(self, request: Request, number: int) -> BuildingImport:
        """Makes the building what it was before; only the newest accepted one can be undone."""
        return undo_import(number, Owner.of(request))
