"""Import steps: what whoever looks at an import sees of the work on it."""

from __future__ import annotations

from collections.abc import Callable

from django.utils import timezone

from smartcis.errors import NotFound
from smartcis.models import BuildingImport

STEP_LENGTH = 200


def steps(one: BuildingImport) -> Callable[[str], None]:
    """Returns what notes a step of the work."""

    def note(step: str) -> None:
        BuildingImport.objects.filter(pk=one.pk).update(
            step=step[:STEP_LENGTH], step_at=timezone.now()
        )

    return note


def import_for_update(number: int) -> BuildingImport:
    """Returns an import, locked until the transaction ends.

    Raises:
        NotFound: there is none of that number.
    """
    one = BuildingImport.objects.select_for_update().filter(pk=number).first()
    if one is None:
        raise NotFound(f"there is no import {number}", found=str(number))
    return one
