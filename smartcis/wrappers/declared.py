"""Declared relations: what an operator says a table outside holds.

A declaration is the config of a source of kind `table`: a name and columns with types and units.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from aspen.errors import AspenError
from aspen.model.schema import Column, Relation, Type, is_column_name
from smartcis.catalog import CATALOG
from smartcis.wrappers.errors import BadConfig

NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")
COLUMNS_AT_MOST = 50
# Relations of ours that a table outside may fill, with the columns it must give, in this order.
FILLED: dict[str, tuple[str, ...]] = {
    "machine_software": ("mid", "software"),
    "reservation": ("rid", "start_s", "end_s", "title"),
}


def declared(config: Mapping[str, Any]) -> Relation:
    """Returns the relation a table source feeds, columns in the order of its rows.

    Raises:
        BadConfig: a name or column that cannot be.
    """
    name = str(config["relation"])
    if name in FILLED:
        known = CATALOG.get(name)
        columns = tuple(known.columns[known.index(column)] for column in FILLED[name])
        return Relation(name, columns, known.kind, comment=known.comment)
    if name in CATALOG:
        raise BadConfig(
            f"{name} is kept here and not fed from tables", found=name, exists=list(FILLED)
        )
    if not NAME.fullmatch(name):
        raise BadConfig(
            "a relation's name is lower case letters, digits and underscores", found=name[:60]
        )
    given: Sequence[Mapping[str, Any]] = config["columns"]
    if not given:
        raise BadConfig(f"{name} needs columns", attempt='[{"name": "id", "type": "TEXT"}, …]')
    try:
        columns = tuple(_column(one) for one in given)
        return Relation(name, columns, comment=str(config.get("comment", "")))
    except AspenError as error:
        raise BadConfig(error.message, found=error.found, exists=error.exists) from error


def columns_fault(value: object) -> str:
    """Returns what is wrong with the form of a list of columns, empty for nothing."""
    if not isinstance(value, list) or len(value) > COLUMNS_AT_MOST:
        return f"is a list of at most {COLUMNS_AT_MOST} columns"
    kinds = ", ".join(kind.word for kind in Type if kind.element is None)
    for one in value:
        if not isinstance(one, dict) or not isinstance(one.get("name"), str):
            return 'is a list of objects such as {"name": "id", "type": "TEXT"}'
        if not _is_type(one.get("type")):
            return f"gives {one['name']!r} a type other than {kinds}"
        if not is_column_name(one["name"]):
            return f"gives a column the name {one['name']!r}: no full stop, no space at its ends"
        if set(one) - {"name", "type", "unit", "nullable"}:
            return f"says more of {one['name']!r} than name, type, unit and nullable"
    return ""


def _is_type(spelt: object) -> bool:
    try:
        return Type(spelt).element is None
    except ValueError:
        return False


def _column(given: Mapping[str, Any]) -> Column:
    return Column(
        str(given["name"]),
        Type(given["type"]),
        str(given.get("unit", "")),
        nullable=bool(given.get("nullable", False)),
    )
