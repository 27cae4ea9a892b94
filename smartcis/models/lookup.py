"""Lookup: one object by its key, or an error that names the nearest keys."""

from __future__ import annotations

from typing import TypeVar

from django.db.models import Model

from smartcis.errors import unknown

M = TypeVar("M", bound=Model)


def found(model: type[M], key: object, what: str) -> M:
    """Returns the object with a primary key.

    Args:
        what: people call such a thing.

    Raises:
        NotFound: there is none; the nearest keys are in `exists`.
    """
    objects = model._default_manager  # noqa: SLF001  # public despite its name
    one = objects.filter(pk=key).first()
    if one is None:
        raise unknown(what, key, objects.values_list("pk", flat=True))
    return one
