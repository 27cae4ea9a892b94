"""Bodies: what an action returns, as the serializer that describes it.

A dataclass `Point(relation: str, lost: int)` becomes the OpenAPI component `Point`; its sentence
and the `Args:` of its docstring become the descriptions.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from rest_framework import serializers

from aspen.model.schema import Value
from smartcis.api.fields import CellField, OpenCellField

Body = type[serializers.Serializer[Any]]

ARGUMENT = re.compile(r"^    (\w+): (.*(?:\n {6,}.*)*)", re.MULTILINE)
PLAIN: dict[Any, Any] = {
    str: serializers.CharField,
    int: serializers.IntegerField,
    float: serializers.FloatField,
    bool: serializers.BooleanField,
}
_MADE: dict[type, Body] = {}


def body_type(described: type, name: str = "", **explicit: Body) -> Body:
    """Returns the serializer of a dataclass or NamedTuple whose fields are those of its JSON.

    Args:
        name: of the component, where it is not the class's.
        explicit: serializers of fields whose JSON is not what their class says.
    """
    if described not in _MADE:
        text = inspect.getdoc(described) or ""
        meanings = {word: " ".join(said.split()) for word, said in ARGUMENT.findall(text)}
        fields: dict[str, Any] = {"__doc__": text.split("\n\n")[0]}
        for field, kind in get_type_hints(described).items():
            options = {"help_text": meanings[field]} if field in meanings else {}
            fields[field] = _field(kind, explicit.get(field), **options)
        made = f"{name or described.__name__}Serializer"
        _MADE[described] = type(made, (serializers.Serializer,), fields)
    return _MADE[described]


def _field(kind: Any, explicit: Body | None = None, **options: Any) -> Any:
    if kind == Value:
        return CellField(allow_null=True, **options)
    if kind is Any:
        return OpenCellField(allow_null=True, **options)
    if isinstance(kind, UnionType):
        (kind,) = (one for one in get_args(kind) if one is not NoneType)
        options["allow_null"] = True
    if explicit is not None:
        return explicit(**options)
    match get_origin(kind), get_args(kind):
        case _, ():
            return PLAIN[kind](**options) if kind in PLAIN else body_type(kind)(**options)
        case origin, names if origin is Literal:
            return serializers.ChoiceField(names, **options)
        case origin, (_, value) if origin is Mapping:
            return serializers.DictField(child=_field(value), **options)
        case _, (one, *_):
            child = _field(one)
            if isinstance(child, serializers.Serializer):
                return type(child)(many=True, **options)
            return serializers.ListField(child=child, **options)
