"""Visitors: people known by a tag and nothing else."""

from __future__ import annotations

from django.db import models


class Visitor(models.Model):
    """Someone who carries a tag; the tag is a pseudonym and no other trait is stored.

    Args:
        speed_m_s: walking speed of a simulated visitor.
        enabled: whether the simulator walks it about.
    """

    tag = models.CharField(primary_key=True, max_length=40)
    speed_m_s = models.FloatField(default=1.2)
    simulated = models.BooleanField(default=True)
    enabled = models.BooleanField(default=True)
    updated_at = models.DateTimeField(auto_now=True, db_index=True)

    class Meta:
        ordering = ("tag",)

    def __str__(self) -> str:
        return self.tag
