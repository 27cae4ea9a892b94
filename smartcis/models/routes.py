"""Route requests: who asks the way to what (the demand relation), and where he was led."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils import timezone

from aspen.model.schema import Row
from smartcis.models.source import SourceModel


def mint_session() -> str:
    """Makes a token for one walk; unguessable, since whoever knows it sees the walk."""
    return secrets.token_urlsafe(12)


class RouteRequest(SourceModel):
    """One visitor's standing request: keep me on the way to what I look for.

    Args:
        session: the walk's token, a row's key in every view about it.
        browser: Django session key of the browser that asked; only it may see, move or end it.
        address: a digest of where that was, for limits.
        node: walking point where the visitor stands.
        goal: of a destination: free-machine:LaTeX, room:<rid>, machine:<mid>, or an operator's.
        last_seen: when the browser last said it was there; idle requests are swept.
        target: where the visitor was led when last told; empty for nowhere.
        cost_mm: how far it was there.
        since_s: log time since when.
        doors: ids of the doors on the way there.
        told: why that was another way than before: rows of `route_news` from `was` on.
    """

    relations = ("route_request",)

    session = models.CharField(max_length=32, primary_key=True, default=mint_session)
    browser = models.CharField(max_length=40, db_index=True)
    address = models.CharField(max_length=32, blank=True, default="", db_index=True)
    node = models.BigIntegerField()
    goal = models.CharField(max_length=140)
    step_free = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)
    last_seen = models.DateTimeField(default=timezone.now, db_index=True)
    target = models.CharField(max_length=70, blank=True, default="")
    cost_mm = models.BigIntegerField(default=0)
    since_s = models.FloatField(default=0.0)
    doors = models.JSONField(default=list, blank=True)
    told = models.JSONField(default=list, blank=True)

    def __str__(self) -> str:
        return f"{self.session}: {self.goal} from {self.node}"

    def rows(self) -> Iterator[tuple[str, Row]]:
        """Returns the question, and where the visitor was led."""
        yield from super().rows()
        if self.target:
            yield "route_target", (self.session, self.target, self.cost_mm, self.since_s)
            yield from (("route_target_door", (self.session, door)) for door in self.doors)
        yield from (("route_told", (self.session, *row)) for row in self.told)

    def forget_target(self) -> None:
        """Forgets where the visitor was led, as he asks something else."""
        self.target, self.doors, self.told = "", [], []


class RouteRule(SourceModel):
    """When a visitor on his way is led to another target, although he could reach his own.

    Args:
        gain_pct: the way becomes shorter by more than this share of it.
        gain_mm: or by more than this.
    """

    ONLY = 1

    relations = ("route_rule",)

    gain_pct = models.FloatField(
        default=15.0, validators=[MinValueValidator(0.0), MaxValueValidator(100.0)]
    )
    gain_mm = models.PositiveIntegerField(default=20_000)

    class Meta(SourceModel.Meta):
        verbose_name = "rule for changing the target of a way"
        verbose_name_plural = "rules for changing the target of a way"
        constraints = (models.CheckConstraint(condition=models.Q(pk=1), name="one_route_rule"),)

    def __str__(self) -> str:
        return f"{self.gain_pct:g} % or {self.gain_mm / 1000:g} m shorter"
