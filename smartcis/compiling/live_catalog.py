"""The catalog as it stands: base relations, standing views, and views that people named."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from aspen.model.catalog import Catalog
from aspen.model.schema import Column, Relation, SourceKind, Type
from smartcis.errors import Invalid
from smartcis.models import MaintainedView
from smartcis.models.declared import whole_catalog
from smartcis.models.turns import NAMES, take_turn
from smartcis.policies import CLOSED_NAME, OPEN_NAME
from smartcis.wrappers.declared import NAME

_SHAPE = ("name", "columns", "comment")


def live_catalog() -> Catalog:
    """Returns what a query may name now."""
    views = MaintainedView.objects.filter(MaintainedView.READABLE, error__isnull=True)
    return Catalog.of((*whole_catalog(), *map(relation_of, views.only(*_SHAPE))))


def relation_of(view: MaintainedView) -> Relation:
    """Returns a maintained view as a relation."""
    return _relation(view.name, tuple(map(tuple, view.columns)), view.comment)


@lru_cache(maxsize=1024)
def _relation(name: str, columns: tuple[tuple[Any, ...], ...], comment: str) -> Relation:
    """Builds a relation; every statement asks for all of them."""
    typed = (Column(column, Type(kind), unit, null) for column, kind, unit, null in columns)
    return Relation(name, tuple(typed), SourceKind.VIEW, comment=comment)


def columns_json(relation: Relation) -> list[list[object]]:
    """Returns a relation's columns as `MaintainedView.columns` keeps them."""
    return [[c.name, c.type.value, c.unit, c.nullable] for c in relation.columns]


def check_name(name: str) -> None:
    """Refuses a name that is no name, or taken; it stays free until the transaction ends.

    Raises:
        Invalid: it is.
    """
    if not NAME.fullmatch(name):
        raise Invalid(
            "a name is lower case letters, digits and underscores, at most 60",
            found=name[:60],
            attempt="begin with a letter",
        )
    take_turn(NAMES)
    taken = name in live_catalog() or MaintainedView.objects.filter(pk=name).exists()
    if taken or name.startswith(("sys_", OPEN_NAME, CLOSED_NAME)):
        raise Invalid(
            f"the name {name} is taken", found=name, attempt=f"DROP {name} first, or use another"
        )
