"""Fields that several bodies share: cells, rows, points."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request

Wanted = dict[str, Any]
"""The fields of a checked body."""
VALUES: list[dict[str, Any]] = [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]
PAIR = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
BOX = PAIR | {"minItems": 4, "maxItems": 4}
OPEN = {"type": "object", "properties": {"open": {"type": "string"}}, "required": ["open"]}


@extend_schema_field({"oneOf": VALUES, "nullable": True}, component_name="Cell")
class CellField(serializers.JSONField):
    """One value of a row."""


@extend_schema_field({"oneOf": [*VALUES, OPEN], "nullable": True}, component_name="OpenCell")
class OpenCellField(serializers.JSONField):
    """A value, or `{"open": name}` for any value that meets the conditions."""


def row_by_column(help_text: str = "column → value", **options: Any) -> serializers.DictField:
    """Returns a field for a row as an object."""
    return serializers.DictField(child=CellField(allow_null=True), help_text=help_text, **options)


def row_in_order(**options: Any) -> serializers.ListField:
    """Returns a field for a row as a list."""
    return serializers.ListField(child=CellField(allow_null=True), **options)


def texts(**options: Any) -> serializers.ListField:
    """Returns a field for a list of texts."""
    return serializers.ListField(child=serializers.CharField(), **options)


def ring_lists(help_text: str) -> serializers.ListField:
    """Returns a field for rings of points: x east and y north, in metres."""
    point = serializers.ListField(child=serializers.FloatField(), min_length=2, max_length=2)
    ring = serializers.ListField(child=point)
    return serializers.ListField(child=ring, help_text=help_text)


def body_of(serializer: type[serializers.Serializer[Any]], request: Request) -> Wanted:
    """Returns a request's body, checked.

    Raises:
        ValidationError: it does not fit.
    """
    given = serializer(data=request.data)
    given.is_valid(raise_exception=True)
    fields: Wanted = given.validated_data
    return fields


def columns_body(columns: Iterable[Sequence[Any]]) -> list[dict[str, Any]]:
    """Returns columns as the API shows them.

    Args:
        columns: name, type and unit of each; what stands behind is left out.
    """
    return [dict(zip(("name", "type", "unit"), column, strict=False)) for column in columns]
