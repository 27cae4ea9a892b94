"""Visitors about themselves: what others may see of a tag, by the code on its card."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.views import APIView

from aspen.log.retention import KEEP_S
from smartcis.access.visitor import visitor_of
from smartcis.actions.rename_visitors import AT_HOUR
from smartcis.actions.set_visitor_consent import set_visitor_consent
from smartcis.api.fields import Wanted
from smartcis.api.schema import READ, SEND, endpoint
from smartcis.errors import Invalid, NotFound
from smartcis.models import Visitor
from smartcis.policies import POSITIONS_KEPT_S

HEADER = "Visitor-Code"
CODE = OpenApiParameter(
    HEADER,
    str,
    OpenApiParameter.HEADER,
    required=True,
    description="the secret on the tag's card; a header, so that no log of addresses has it",
)


class ConsentSerializer(serializers.Serializer[Any]):
    """What others may see."""

    consent = serializers.ChoiceField(choices=Visitor.CONSENTS)


class VisitorSerializer(ConsentSerializer):
    """A visitor, as only the holder of the tag sees it."""

    pseudonym = serializers.CharField(help_text="what others see today instead of the tag")
    simulated = serializers.BooleanField()


class PolicySerializer(serializers.Serializer[Any]):
    """What the house does with positions."""

    held_s = serializers.FloatField(help_text="how long the engine holds a position")
    log_keeps_s = serializers.FloatField(
        help_text="about how long positions stand in the building's log; longer "
        "while the engine stands still or little happens"
    )
    renamed_at_hour = serializers.IntegerField(help_text="pseudonyms change, in the house's time")


class CardSerializer(serializers.Serializer[Any]):
    """What a tag's card says."""

    code = serializers.CharField(help_text="the tag's secret: send it as Visitor-Code")


class VisitorCard(APIView):
    """The card of a simulated visitor, for people who want to try what one may choose."""

    permission_classes = (AllowAny,)
    throttle_scope = "visitors"

    @endpoint(CardSerializer, *READ)
    def get(self, _request: Request) -> Visitor:
        """Returns the card of one of the simulated visitors who walk about, drawn by lot.

        Raises:
            NotFound: nobody is simulated here.
        """
        found = Visitor.objects.filter(simulated=True, enabled=True).order_by("?").first()
        if found is None:
            raise NotFound(
                "no visitor is simulated here", attempt="take the code from your own tag's card"
            )
        return found


class VisitorPolicy(APIView):
    """What the house does with positions, for everybody to read."""

    permission_classes = (AllowAny,)

    @endpoint(PolicySerializer, 406)
    def get(self, _request: Request) -> dict[str, Any]:
        """Returns how long positions are kept, and when names change."""
        return {"held_s": POSITIONS_KEPT_S, "log_keeps_s": 2 * KEEP_S, "renamed_at_hour": AT_HOUR}


class VisitorMe(APIView):
    """The visitor whose code the request carries."""

    permission_classes = (AllowAny,)
    throttle_scope = "visitors"

    @endpoint(VisitorSerializer, *READ, parameters=[CODE])
    def get(self, request: Request) -> Visitor:
        """Returns what others may see."""
        return visitor_of(_code(request))

    @endpoint(VisitorSerializer, *SEND, 404, takes=ConsentSerializer, parameters=[CODE])
    def patch(self, request: Request, wanted: Wanted) -> Visitor:
        """Chooses what others may see; the map follows within seconds."""
        return set_visitor_consent(_code(request), wanted["consent"])


def _code(request: Request) -> str:
    """Returns the code that a request carries.

    Raises:
        Invalid: it carries none.
    """
    code = request.headers.get(HEADER)
    if code is None:
        raise Invalid(
            f"the header {HEADER} is missing", attempt="take the code from the tag's card"
        )
    return str(code)
