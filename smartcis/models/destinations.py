"""Destinations that an operator adds: a name, and a query for what one may be led to."""

from __future__ import annotations

from django.core.validators import RegexValidator
from django.db import models
from django.utils.translation import get_language


class Destination(models.Model):
    """Something visitors look for, beside rooms, machines and free machines with some software.

    Args:
        slug: its goal in a request, and in the name of its view.
        name: as visitors read it, in English; `name_de` in German.
        words: what else people call it, in either language, separated by commas.
        sql: a query with the columns rid and node, and mid where it is of machines.
        step_free: it is looked for without stairs.
        position: its place in the list.
        error: why its query is left out, the fields of an `AspenError`.
    """

    slug = models.CharField(
        primary_key=True,
        max_length=40,
        validators=[RegexValidator(r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$", "small letters, digits, -")],
        help_text="for addresses and requests: small letters, digits and hyphens",
    )
    name = models.CharField(max_length=80, help_text="what visitors choose")
    name_de = models.CharField("name in German", max_length=80, blank=True)
    words = models.CharField(
        "other words",
        max_length=300,
        blank=True,
        help_text="by which it is found, in any language, separated by commas",
    )
    sql = models.TextField(
        "query",
        help_text="StreamSQL with the columns rid and node, and mid where it leads to machines",
    )
    step_free = models.BooleanField("always step-free", default=False)
    position = models.PositiveSmallIntegerField(default=100, help_text="small numbers come first")
    error = models.JSONField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ("position", "slug")

    def __str__(self) -> str:
        return self.name

    @property
    def called(self) -> str:
        """Returns its name in the language that is active."""
        return self.name_de if self.name_de and get_language() == "de" else self.name

    @property
    def view(self) -> str:
        """Returns the name of its standing view."""
        return f"goal_{self.slug.replace('-', '_')}"
