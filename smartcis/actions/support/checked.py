"""Checked: what a model refuses, as the error every action refuses with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models

from smartcis.errors import AlreadyThere, Invalid

SHOWN_LENGTH = 80


@contextmanager
def checked(said: Mapping[str, Any]) -> Iterator[None]:
    """Turns what a model refuses within into `Invalid`, field by field.

    Args:
        said: what was to be written.

    Raises:
        Invalid: a value that cannot be.
    """
    try:
        yield
    except ValidationError as error:
        words = [f"{field}: {' '.join(texts)}" for field, texts in _texts(error).items()]
        raise Invalid("; ".join(words), found=str(dict(said))[:SHOWN_LENGTH]) from error


def refuse_taken(model: type[models.Model], key: str, what: str) -> None:
    """Refuses a key that a thing has already.

    Args:
        what: people call such a thing.

    Raises:
        AlreadyThere: it is taken.
    """
    if model._default_manager.filter(pk=key).exists():  # noqa: SLF001  # public despite its name
        raise AlreadyThere(
            f"there is a {what} {key!r}", found=key, attempt="change it, or choose another id"
        )


def _texts(error: ValidationError) -> dict[str, list[str]]:
    if hasattr(error, "error_dict"):
        return error.message_dict
    return {"value": error.messages}
