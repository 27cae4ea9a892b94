"""Imports of buildings: what was uploaded, what came of reading it, and how to take it back."""

from __future__ import annotations

import shutil
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.db import models
from django.utils import timezone

INTERRUPTED_S = 1_000.0
"""After so long without a step, whoever was at it counts as dead."""
UNDOABLE = 5
"""So many of the newest keep what it takes to undo them."""


class BuildingImport(models.Model):
    """One file on its way to being the building.

        reading ─> ready ─> writing ─> accepted ─> undoing ─> undone
           └─> refused <───────┘

    Args:
        name: of the file.
        account: who brought it, empty for a program.
        step: what is being done, or was last.
        step_at: when that began.
        add: whether the file's building is added to those that are there.
        replace: whether another building than the file's may be removed.
        refusal: an error as the API gives it, of the last step that was refused.
        report: what was found, concluded, repaired, dropped, and what changes.
        plan: the building as it would be, to be drawn.
        changes: what undoes it (`smartcis.importers.changes`).
    """

    class State(models.TextChoices):
        """How far it is."""

        READING = "reading", "being read"
        READY = "ready", "ready to be accepted"
        REFUSED = "refused", "refused"
        WRITING = "writing", "being accepted"
        ACCEPTED = "accepted", "accepted"
        UNDOING = "undoing", "being undone"
        UNDONE = "undone", "undone"

    BUSY = (State.READING, State.WRITING, State.UNDOING)

    name = models.CharField(max_length=200)
    account = models.CharField(max_length=150, blank=True)
    at = models.DateTimeField(default=timezone.now)
    state = models.CharField(max_length=10, choices=State.choices, default=State.READING)
    step = models.CharField(max_length=200, blank=True)
    step_at = models.DateTimeField(default=timezone.now)
    add = models.BooleanField(default=False)
    replace = models.BooleanField(default=False)
    refusal = models.JSONField(null=True, blank=True)
    report = models.JSONField(null=True, blank=True)
    plan = models.JSONField(null=True, blank=True)
    changes = models.BinaryField(null=True, blank=True)

    class Meta:
        ordering = ("-pk",)
        verbose_name = "building import"

    def __str__(self) -> str:
        return f"{self.name}, {self.get_state_display()}"

    @property
    def folder(self) -> Path:
        """Where its file lies until it is accepted or removed."""
        return settings.VAR / "imports" / str(self.pk)

    @property
    def file(self) -> Path:
        """Its file."""
        return self.folder / self.name

    @property
    def busy(self) -> bool:
        """Whether somebody is at it."""
        silent = timezone.now() - self.step_at
        return self.state in self.BUSY and silent < timedelta(seconds=INTERRUPTED_S)

    @property
    def undoable(self) -> bool:
        """Whether it is the newest that was accepted, and keeps what undoes it."""
        if self.state not in {self.State.ACCEPTED, self.State.UNDOING} or self.changes is None:
            return False
        later = BuildingImport.objects.filter(pk__gt=self.pk, state=self.State.ACCEPTED)
        return not later.exists()

    def forget_file(self) -> None:
        """Removes its file."""
        shutil.rmtree(self.folder, ignore_errors=True)
