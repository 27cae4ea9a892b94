"""Visitors: people known by a tag, a name for the day, and what they allow."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

from django.db import models
from django.utils import timezone

from aspen.model.schema import Row
from smartcis.models.source import SourceModel


def mint_pseudonym() -> str:
    """Makes a name for a day; drawn by lot, so that nobody can work it out from the tag."""
    return f"v-{secrets.token_hex(5)}"


def mint_code() -> str:
    """Makes the secret by which its holder says what others may see; 128 bits."""
    return secrets.token_urlsafe(16)


class Visitor(SourceModel):
    """Someone who carries a tag.

    Args:
        consent: what others may see: nothing, a number from three on, the room, the exact point.
        pseudonym: what others see instead of the tag; another one each day.
        named_on: the day the pseudonym is for.
        code: the holder's secret, printed with the tag.
        speed_m_s: walking speed of a simulated visitor.
        enabled: whether the simulator walks it about.
    """

    HIDDEN, COUNTED, ROOM, EXACT = "hidden", "counted", "room", "exact"
    CONSENTS = (
        (HIDDEN, "hidden: nothing"),
        (COUNTED, "counted: only in numbers of three or more"),
        (ROOM, "room: the room, under a name that changes daily"),
        (EXACT, "exact: the place, under a name that changes daily"),
    )

    relations = ("visitor",)

    tag = models.CharField(primary_key=True, max_length=40)
    consent = models.CharField(max_length=8, choices=CONSENTS, default=HIDDEN)
    pseudonym = models.CharField(max_length=20, unique=True, default=mint_pseudonym)
    named_on = models.DateField(default=timezone.localdate, db_index=True)
    code = models.CharField(max_length=32, unique=True, default=mint_code)
    speed_m_s = models.FloatField(default=1.2)
    simulated = models.BooleanField(default=True)
    enabled = models.BooleanField(default=True)
    updated_at = models.DateTimeField(auto_now=True, db_index=True)

    class Meta(SourceModel.Meta):
        ordering = ("tag",)

    def __str__(self) -> str:
        return self.tag

    def rows(self) -> Iterator[tuple[str, Row]]:
        """Returns the row of `visitor`; none for somebody who has not opted in."""
        return iter(()) if self.consent == self.HIDDEN else super().rows()
