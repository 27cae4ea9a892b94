"""How the house is run: which processes are up, and which log entries are left out."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from smartcis import composition
from smartcis.actions.take_in_again import take_in_again
from smartcis.api.permissions import StaffOnly
from smartcis.api.schema import EDIT, endpoint
from smartcis.services.processes import ProcessState, read_processes


class ProcessSerializer(serializers.Serializer[Any]):
    """A process of the product."""

    name = serializers.CharField()
    host = serializers.CharField()
    up = serializers.BooleanField()
    pid = serializers.IntegerField(help_text="0 while it is down")
    starts = serializers.IntegerField(help_text="since its supervisor was started")
    said = serializers.CharField(allow_blank=True, help_text="what happened to it last")


class LeftOutSerializer(serializers.Serializer[Any]):
    """A log entry that ended the engine, so that nobody takes it up again."""

    position = serializers.IntegerField(help_text="of the log")
    entry = serializers.CharField(help_text="as it stands in the log")
    deaths = serializers.IntegerField(help_text="how often the engine ended at it")
    at_s = serializers.FloatField(help_text="when that was noticed, seconds since the epoch")
    taken_in_at = serializers.IntegerField(help_text="where it was appended anew; 0: nowhere")


class Processes(APIView):
    """The processes of the product."""

    permission_classes = (StaffOnly,)
    pagination_class = None

    @endpoint(ProcessSerializer(many=True), 401, 403, 406, 503)
    def get(self, _request: Request) -> list[ProcessState]:
        """Lists the processes that supervisors know."""
        return read_processes(composition.server(), settings.NAME)


class LeftOutList(APIView):
    """The log entries that are left out."""

    permission_classes = (StaffOnly,)
    pagination_class = None

    @endpoint(LeftOutSerializer(many=True), 401, 403, 406, 503)
    def get(self, _request: Request) -> Any:
        """Lists the entries, the oldest first."""
        return composition.log().left_out()


class LeftOutDetail(APIView):
    """A log entry that is left out."""

    permission_classes = (StaffOnly,)

    @endpoint(LeftOutSerializer, *EDIT, 404, 503, request=None, operation_id="takeInAgain")
    def post(self, _request: Request, position: str) -> Any:
        """Takes the entry in again, at the log's end."""
        return take_in_again(position)
