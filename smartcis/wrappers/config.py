"""Config: the fields a kind of source is set up with, and their check."""

from __future__ import annotations

import math
import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, urlsplit
from zoneinfo import ZoneInfo

from smartcis.wrappers.declared import columns_fault
from smartcis.wrappers.errors import BadConfig
from smartcis.wrappers.zones import time_zones

TEXT_LENGTH = 2_000
OBJECTS_AT_MOST = 500
PORTS = 65_536


@dataclass(frozen=True, slots=True)
class ConfigField:
    """One thing an operator says about a source.

    Args:
        name: its key in the config.
        form: text, url, zone, pattern, names, columns, objects, number, whole, flag or a choice
            of words parted by `|`; decides the check.
        meaning: one line for the admin page.
        required: whether a source cannot be read without it.
        default: what stands when it is left out.
    """

    name: str
    form: str
    meaning: str
    required: bool = False
    default: Any = ""


def checked(kind: str, fields: Sequence[ConfigField], config: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a config with every field of its kind, defaults filled in.

    Raises:
        BadConfig: an unknown, missing or malformed field.
    """
    if not isinstance(config, Mapping):
        raise BadConfig("the settings are a JSON object", found=type(config).__name__)
    names = [field.name for field in fields]
    for name in config:
        if name not in names:
            raise BadConfig(f"a {kind} source has no {name!r}", found=str(name), exists=names)
    whole: dict[str, Any] = {}
    for field in fields:
        value = config.get(field.name)
        if value in (None, "", [], {}):
            if field.required:
                raise BadConfig(
                    f"a {kind} source needs {field.name!r}",
                    found="nothing",
                    exists=names,
                    attempt=field.meaning,
                )
            whole[field.name] = field.default
            continue
        fault = _fault(field.form, value)
        if fault:
            raise BadConfig(
                f"{field.name!r} {fault}", found=repr(value)[:80], attempt=field.meaning
            )
        whole[field.name] = value
    return whole


def described(
    kind: str, one: Mapping[str, Any], fields: Sequence[ConfigField], number: int
) -> dict[str, Any]:
    """Returns one object of a list as `checked` returns a config.

    Args:
        number: its place in the list, from 1.

    Raises:
        BadConfig: naming the object.
    """
    try:
        return checked(kind, fields, one)
    except BadConfig as fault:
        raise BadConfig(
            f"number {number}: {fault.message}", found=fault.found, exists=fault.exists
        ) from fault


def _fault(form: str, value: object) -> str:
    if form in _FORMS:
        return _FORMS[form](value)
    words = form.split("|")
    return "" if value in words else f"is one of {', '.join(words)}"


def _text(value: object) -> str:
    if not isinstance(value, str) or len(value) > TEXT_LENGTH:
        return f"is a text of at most {TEXT_LENGTH} characters"
    return ""


def _url(value: object) -> str:
    if not isinstance(value, str):
        return "is a text"
    known = address_parts(value, ("http", "https"))
    return "" if known else "is http:// or https://, a host and a port up to 65535"


def address_parts(address: str, schemes: Container[str]) -> SplitResult | None:
    """Takes an address apart; None without a host, with another scheme, or a port there is not."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:  # half an IPv6 address, or a port beyond 65535
        return None
    return parts if parts.scheme in schemes and parts.hostname and port != 0 else None


def _zone(value: object) -> str:
    return "" if value in time_zones() else "is a time zone such as Europe/Berlin"


def _pattern(value: object) -> str:
    if _text(value):
        return _text(value)
    try:
        re.compile(str(value))
    except re.error as error:
        return f"is a regular expression: {error}"
    return ""


def _names(value: object) -> str:
    if not isinstance(value, Mapping) or not all(
        isinstance(key, str) and isinstance(name, str) for key, name in value.items()
    ):
        return "is an object from texts to texts"
    return ""


def _number(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return "is a number"
    return ""


def _whole(value: object) -> str:
    return "" if type(value) is int else "is a whole number"


def _flag(value: object) -> str:
    return "" if isinstance(value, bool) else "is true or false"


def _objects(value: object) -> str:
    if isinstance(value, list) and len(value) <= OBJECTS_AT_MOST:
        return "" if all(isinstance(one, dict) for one in value) else "is a list of objects"
    return f"is a list of at most {OBJECTS_AT_MOST} objects"


_FORMS = {
    "text": _text,
    "url": _url,
    "zone": _zone,
    "pattern": _pattern,
    "names": _names,
    "columns": columns_fault,
    "objects": _objects,
    "number": _number,
    "whole": _whole,
    "flag": _flag,
}


def port_of(config: Mapping[str, Any]) -> int:
    """Returns the port of a checked config.

    Raises:
        BadConfig: there is no such port.
    """
    port = int(config["port"])
    if not 0 < port < PORTS:
        raise BadConfig("a port lies between 1 and 65535", found=str(port))
    return port


def zone(name: str) -> ZoneInfo:
    """Returns a time zone by its checked name."""
    return ZoneInfo(name or "UTC")
