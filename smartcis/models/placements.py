"""Placements: where maintained queries run, and the pieces of them that run inside the network.

    Placement ── runs ──► NetworkPiece …        what the engine's plan reads at present
              ── wants ─► NetworkPiece …        what it shall read; the same, unless it moves

Law: the log's relation of a live piece holds exactly `answer`, and the log's registration of a
view is that of its placement: both change in one transaction with their outbox entries.
"""

from __future__ import annotations

from typing import Any

from django.db import models
from django.utils import timezone

from smartcis.models.queries import MaintainedView


class NetworkPiece(models.Model):
    """A piece of one or several queries that the motes run, epoch by epoch.

    Args:
        name: the relation its answers are kept in.
        declaration: that relation, as the log declares it.
        plan_text: what the motes run.
        replaces_text: what the engine would run in its place.
        period_s: between two epochs.
        method: how a join in it is computed.
        keys: distinct join values expected.
        shares: part of each input's rows expected to pass its own selection.
        joined_share: part of the groups expected to join once all their rows have passed.
        live: whether its answers reach the log.
        answer: `[weight, *row]` of each row the log's relation holds; empty unless live.
        answered_at: when the newest answer was taken.
        motes: how many motes' rows are in it.
        expected: motes that carry a sensor it reads.
        energy_mj: what the motes have spent for it since they run it.
        sent_bytes: what they have sent for it since then.
        mj_per_s: what they spent lately.
        bytes_per_s: what they sent lately.
        measured: shares of rows passing the selections inside, by the selection's text.
    """

    name = models.CharField(max_length=20, primary_key=True)
    declaration = models.JSONField()
    plan_text = models.TextField()
    replaces_text = models.TextField()
    period_s = models.FloatField()
    method = models.CharField(max_length=12)
    keys = models.IntegerField()
    shares = models.JSONField(default=list)
    joined_share = models.FloatField(default=1.0)
    live = models.BooleanField(default=False)
    answer = models.JSONField(default=list)
    answered_at = models.DateTimeField(null=True)
    motes = models.IntegerField(default=0)
    expected = models.IntegerField(default=0)
    energy_mj = models.FloatField(default=0.0)
    sent_bytes = models.BigIntegerField(default=0)
    mj_per_s = models.FloatField(default=0.0)
    bytes_per_s = models.FloatField(default=0.0)
    measured = models.JSONField(default=dict)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class Placement(models.Model):
    """Where one maintained view runs, since when and why; views without one run in the engine.

    Args:
        plan_hash: of the view's plan it was decided for; of another one it says nothing.
        running: names of the pieces the engine's plan reads, sorted; none when it does everything.
        running_text: the engine's plan, empty for the view's own.
        wanted: as `running`, once the view has moved.
        wanted_text: as `running_text`, once the view has moved.
        since: when it began to run like this.
        decided_at: when `wanted` was decided.
        why: in one sentence.
        costs: what the decision compared, with units.
        basis: the estimates the decision rests on.
        forced: somebody of the staff chose; the optimizer leaves it alone.
        trouble: why the last move was given up, empty when it was not.
    """

    view = models.OneToOneField(
        MaintainedView, primary_key=True, on_delete=models.CASCADE, related_name="placement"
    )
    plan_hash = models.CharField(max_length=64)
    running = models.JSONField(default=list)
    running_text = models.TextField(blank=True)
    wanted = models.JSONField(default=list)
    wanted_text = models.TextField(blank=True)
    since = models.DateTimeField(default=timezone.now)
    decided_at = models.DateTimeField(default=timezone.now)
    why = models.TextField(blank=True)
    costs = models.JSONField(default=dict)
    basis = models.JSONField(default=dict)
    forced = models.BooleanField(default=False)
    trouble = models.TextField(blank=True)

    class Meta:
        ordering = ("view_id",)

    def __str__(self) -> str:
        return f"{self.view_id}: {', '.join(self.running) or 'engine'}"

    @property
    def holds(self) -> bool:
        """Whether it speaks of the plan the view has now."""
        return self.plan_hash == self.view.plan_hash

    @property
    def moving(self) -> bool:
        """Whether the view shall run otherwise than it does."""
        return bool(self.running != self.wanted)


class NetworkState(models.Model):
    """What the motes tell of themselves, for whoever decides elsewhere; at most one row.

    Args:
        state: tree, links and sensors (see `smartcis.placements.look`).
    """

    ONLY = 1

    state = models.JSONField()
    seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return str(self.seen_at)


def piece_bodies(piece: NetworkPiece) -> list[dict[str, Any]]:
    """Returns what the outbox says of a live piece to a log that knows nothing of it."""
    rows = [[piece.name, *weighted] for weighted in piece.answer]
    return [{"declare": piece.declaration}, *([{"changes": rows}] if rows else [])]
