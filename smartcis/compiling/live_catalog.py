"""The catalog as it stands: base relations, standing views, and views that people named."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from django.db.models import Q

from aspen.model.catalog import Catalog
from aspen.model.schema import Column, Relation, SourceKind, Type
from smartcis.catalog import TENANT_COLUMN
from smartcis.errors import Invalid
from smartcis.models import MaintainedView
from smartcis.models.declared import whole_catalog
from smartcis.models.turns import NAMES, take_turn
from smartcis.personal import PERSONAL
from smartcis.wrappers.declared import NAME

_SHAPE = ("name", "columns", "comment")


def live_catalog() -> Catalog:
    """Returns what a query may name now."""
    readable = Q(standing=True) | Q(named=True)
    views = MaintainedView.objects.filter(readable, error__isnull=True)
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


def reads_private(sources: Iterable[str], catalog: Catalog) -> list[str]:
    """Returns those sources whose rows belong to one visitor each, or tell where a person is.

    A standing view over them is for everybody: what it gives away is decided in its text. What
    somebody of the staff named is for the staff, whichever columns it has left.
    """
    asked = set(sources)
    named = MaintainedView.objects.filter(named=True, private=True, name__in=asked)
    closed = PERSONAL | set(named.values_list("name", flat=True)) if asked else PERSONAL
    return sorted(
        name
        for name in asked
        if name in closed or (name in catalog and TENANT_COLUMN in catalog.get(name).names)
    )


def behind(names: Iterable[str]) -> dict[str, bool]:
    """Returns the named relations and views and all that those views read, through others too.

    Returns:
        By name, whether it is a view.
    """
    wanted = list(names)
    readable = Q(standing=True) | Q(named=True) | Q(name__in=wanted)
    reads = dict(MaintainedView.objects.filter(readable).values_list("name", "sources"))
    met: dict[str, bool] = {}
    while wanted:
        name = wanted.pop()
        if name not in met:
            met[name] = name in reads
            wanted += reads.get(name, [])
    return met


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
    if taken or name.startswith(("sys_", "q_")):
        raise Invalid(
            f"the name {name} is taken", found=name, attempt=f"DROP {name} first, or use another"
        )
