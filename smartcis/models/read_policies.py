"""Read policies as the admin lists them; they stand in code, so no table holds them."""

from __future__ import annotations

from django.db import models


class ReadPolicy(models.Model):
    """What the permission to look at the policies is for; rows are in `smartcis.policies`."""

    class Meta:
        managed = False
        default_permissions = ("view",)
        verbose_name = "rule of who reads what"
        verbose_name_plural = "who reads what"

    def __str__(self) -> str:
        return f"read policy {self.pk}"
