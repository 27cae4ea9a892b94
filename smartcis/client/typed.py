"""Typed: JSON as the dataclasses that describe it.

Law:    fields that this client does not know are left out, so that a server may say more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from functools import lru_cache
from types import NoneType
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

from smartcis.client.problem import Problem

T = TypeVar("T")


def typed(kind: type[T], body: Any) -> T:
    """Returns a JSON value as what a type says.

    Args:
        kind: a dataclass; its fields may be dataclasses, tuples and mappings of them, or None.

    Raises:
        Problem: it is something else.
    """
    with understood(kind.__name__, body):
        return cast("T", _made(kind, body))


@contextmanager
def understood(what: str, body: object) -> Iterator[None]:
    """Turns whatever cannot be read out of a JSON value into one problem.

    Raises:
        Problem: it is something else.
    """
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError) as fault:
        raise Problem(
            f"the answer is no {what}: {fault}",
            code="smartcis.client.odd_answer",
            found=repr(body)[:80],
            attempt="check that the address is one of SmartCIS, and the versions of both",
        ) from fault


def _made(kind: Any, body: Any) -> Any:
    if is_dataclass(kind) and isinstance(kind, type):
        hints = _hints(kind)
        return kind(**{one.name: _made(hints[one.name], body[one.name]) for one in fields(kind)})
    origin, arguments = get_origin(kind), get_args(kind)
    if NoneType in arguments:
        return None if body is None else _made(arguments[0], body)
    if origin is tuple and arguments[-1] is Ellipsis:
        return tuple(_made(arguments[0], one) for one in body)
    if origin is tuple:
        return tuple(body)
    if origin is Mapping:
        return {name: _made(arguments[1], one) for name, one in body.items()}
    return body


@lru_cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)
