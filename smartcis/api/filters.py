"""Filters: what stands behind the question mark of a listing means something, or is refused."""

from __future__ import annotations

from typing import Any

import django_filters
from django import forms
from django.db import models

TRUTHS = {"true": True, "1": True, "false": False, "0": False}


class TruthField(forms.Field):
    """true or false; Django's own takes any other word for no filter at all."""

    def to_python(self, value: Any) -> bool | None:
        """Returns what is said, None for nothing.

        Raises:
            ValidationError: it is neither.
        """
        if value in self.empty_values:
            return None
        word = str(value).lower()
        if word not in TRUTHS:
            raise forms.ValidationError("Write true or false.", code="invalid")
        return TRUTHS[word]


class TruthFilter(django_filters.BooleanFilter):  # type: ignore[misc]  # untyped
    """By whether something holds."""

    field_class = TruthField


class Filters(django_filters.FilterSet):  # type: ignore[misc]  # untyped
    """Filters of a listing."""

    FILTER_DEFAULTS = django_filters.FilterSet.FILTER_DEFAULTS | {
        models.BooleanField: {"filter_class": TruthFilter}
    }


def filters(model: type[models.Model], *fields: str, **others: Any) -> type[Filters]:
    """Returns the filters of a listing.

    Args:
        model: what is listed.
        fields: of the model, which one may filter by.
        others: by its name, the path of a field that is called otherwise there; or a filter.
    """
    given = {
        name: django_filters.CharFilter(field_name=one) if isinstance(one, str) else one
        for name, one in others.items()
    }
    meta = type("Meta", (), {"model": model, "fields": (*fields, *others)})
    return type(f"{model.__name__}Filters", (Filters,), {**given, "Meta": meta})
