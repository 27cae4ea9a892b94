"""The catalog as it stands: base relations and standing views."""

from __future__ import annotations

from collections.abc import Iterable

from aspen.model.catalog import Catalog
from aspen.model.schema import Column, Relation, SourceKind, Type
from smartcis.catalog import TENANT_COLUMN
from smartcis.models import MaintainedView
from smartcis.models.declared import whole_catalog


def live_catalog() -> Catalog:
    """Give what a query may name now."""
    catalog = whole_catalog()
    for view in MaintainedView.objects.filter(standing=True, error__isnull=True):
        catalog = catalog.with_relation(relation_of(view))
    return catalog


def relation_of(view: MaintainedView) -> Relation:
    """Give a maintained view as a relation."""
    columns = tuple(
        Column(name, Type(kind), unit, nullable) for name, kind, unit, nullable in view.columns
    )
    return Relation(view.name, columns, SourceKind.VIEW, comment=view.comment)


def columns_json(relation: Relation) -> list[list[object]]:
    """Give a relation's columns as `MaintainedView.columns` keeps them."""
    return [[c.name, c.type.value, c.unit, c.nullable] for c in relation.columns]


def reads_private(sources: Iterable[str], catalog: Catalog) -> list[str]:
    """Give those sources whose rows belong to one visitor each."""
    return sorted(
        name for name in sources if name in catalog and TENANT_COLUMN in catalog.get(name).names
    )
