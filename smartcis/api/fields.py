"""Fields that several bodies share: cells, rows, points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request

from aspen.errors import AspenError
from smartcis.sentences import translated

Wanted = dict[str, Any]
"""The fields of a checked body."""
VALUES: list[dict[str, Any]] = [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]
ARRAY = {"type": "array", "items": {"oneOf": VALUES, "nullable": True}}
PAIR = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
BOX = PAIR | {"minItems": 4, "maxItems": 4}
NODE_HIGHEST = 2**53 - 1
SHOWN_LENGTH = 60
OPEN = {"type": "object", "properties": {"open": {"type": "string"}}, "required": ["open"]}


class SentenceField(serializers.CharField):
    """What the code says of an error or a reason, in the language of who asks."""

    def to_representation(self, value: str) -> str:
        """Returns the sentence in that language."""
        return translated(value)


@extend_schema_field({"oneOf": [*VALUES, ARRAY], "nullable": True}, component_name="Cell")
class CellField(serializers.JSONField):
    """One value of a row."""


@extend_schema_field({"oneOf": [*VALUES, ARRAY, OPEN], "nullable": True}, component_name="OpenCell")
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


class UnknownField(AspenError, code="smartcis.api.unknown_field"):
    """A field that a body does not have: what it was to say would be lost without a word."""


def body_of(serializer: type[serializers.Serializer[Any]], request: Request) -> Wanted:
    """Returns a request's body, checked.

    Raises:
        UnknownField: it has one that the endpoint does not know.
        ValidationError: it does not fit.
    """
    given = serializer(data=request.data)
    _refuse_unknown(given, request.data, "")
    given.is_valid(raise_exception=True)
    fields: Wanted = given.validated_data
    return fields


def columns_body(columns: Iterable[Sequence[Any]]) -> list[dict[str, Any]]:
    """Returns columns as the API shows them.

    Args:
        columns: name, type and unit of each; what stands behind is left out.
    """
    return [dict(zip(("name", "type", "unit"), column, strict=False)) for column in columns]


def no_body(request: Request) -> None:
    """Refuses a body where none is read.

    Raises:
        UnknownField: it says something.
    """
    if request.data:
        _refuse_unknown(serializers.Serializer(), request.data, "")


def _refuse_unknown(field: Any, value: Any, path: str) -> None:
    """Refuses fields that nobody reads, however deep they stand."""
    child = getattr(field, "child", None)
    if child is not None and isinstance(value, list):
        for index, one in enumerate(value):
            _refuse_unknown(child, one, f"{path}{index}.")
    if not isinstance(field, serializers.Serializer) or not isinstance(value, Mapping):
        return
    for name, one in value.items():
        if name not in field.fields:
            known, shown = sorted(field.fields), f"{path}{name}"[:SHOWN_LENGTH]
            near = get_close_matches(name, known, n=1, cutoff=0.5)
            raise UnknownField(
                f"there is no field {shown!r} here",
                found=shown,
                exists=known,
                attempt=f"did you mean {near[0]}?" if near else "leave it out",
            )
        _refuse_unknown(field.fields[name], one, f"{path}{name}.")
