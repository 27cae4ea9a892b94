"""Save a source with its changes, or say what of it cannot be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from smartcis.actions.support.checked import checked
from smartcis.models import Machine, Source, Unit
from smartcis.models.lookup import found

OFF = {"enabled": False}


def save_source(source: Source, changes: Mapping[str, Any]) -> Source:
    """Returns the source, changed and saved; it is read by that within seconds.

    Args:
        changes: of name, config, rid, mid, period_s and enabled; no room or machine is None.

    Raises:
        NotFound: no such room or machine.
        Invalid: no wrapper could read it.
    """
    for name, value in changes.items():
        if name == "rid":
            source.unit = None if value is None else found(Unit, value, "room")
        elif name == "mid":
            source.machine = None if value is None else found(Machine, value, "machine")
        else:
            setattr(source, name, value)
    with checked({name: value for name, value in changes.items() if name != "config"}):
        if changes != OFF:  # one whose settings are broken may be switched off
            source.full_clean(validate_unique=False)
        source.save()
    return source
