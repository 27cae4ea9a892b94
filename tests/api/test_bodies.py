"""What an action returns is described once: by its class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from rest_framework import serializers

from aspen.model.schema import Value
from smartcis.api.bodies import body_type
from smartcis.api.fields import CellField, OpenCellField


@dataclass(frozen=True)
class Part:
    """A part.

    Args:
        name: of the part,
            on two lines.
        row: column → value.
    """

    name: str
    row: Mapping[str, Value]


@dataclass(frozen=True)
class Whole:
    """A whole.

    Raises:
        Nothing: ever.
    """

    kind: Literal["big", "small"]
    sets: tuple[tuple[Part, ...], ...]
    after: Mapping[str, Any] | None
    share: float | None = None


def test_fields_follow_the_types_and_descriptions_the_docstring():
    body = body_type(Part, "Piece")
    fields = body().fields
    assert (body.__name__, body.__doc__) == ("PieceSerializer", "A part.")
    assert fields["name"].help_text == "of the part, on two lines."
    assert isinstance(fields["row"].child, CellField)
    assert fields["row"].child.allow_null


def test_nested_classes_keep_their_component_and_optional_ones_may_be_null():
    body_type(Part, "Piece")
    fields = body_type(Whole)().fields
    assert list(fields["kind"].choices) == ["big", "small"]
    inner = fields["sets"].child
    assert isinstance(inner, serializers.ListSerializer)
    assert type(inner.child).__name__ == "PieceSerializer"
    assert isinstance(fields["after"].child, OpenCellField)
    assert fields["after"].allow_null
    assert fields["share"].allow_null
    assert not fields["kind"].allow_null
