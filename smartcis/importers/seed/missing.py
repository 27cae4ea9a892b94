"""Missing: what is made up once stays as people may have changed it since."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import models


def add_missing(model: type[models.Model], wanted: Sequence[Any], key: str = "pk") -> int:
    """Stores the objects whose key is not taken; returns how many."""
    manager = model._default_manager  # noqa: SLF001  # the documented way to a model's manager
    known = set(manager.values_list(key, flat=True))
    return len(manager.bulk_create([one for one in wanted if getattr(one, key) not in known]))
