"""The base relations as they stand: the building's own, and those that table sources declare."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from django.apps import apps

from aspen.model.catalog import Catalog
from aspen.model.schema import Relation
from smartcis.catalog import CATALOG
from smartcis.wrappers.declared import declared
from smartcis.wrappers.errors import BadConfig


def whole_catalog() -> Catalog:
    """Returns every base relation."""
    return Catalog.of((*CATALOG, *declared_relations().values(), *own_relations()))


def own_relations(names: AbstractSet[str] | None = None) -> list[Relation]:
    """Returns what people declared themselves: everything, or what has one of these names."""
    own = apps.get_model("smartcis", "OwnRelation").objects.all()
    return [one.relation for one in (own if names is None else own.filter(pk__in=names))]


def relations_named(names: AbstractSet[str]) -> dict[str, Relation]:
    """Returns base relations by name, read from the database as far as the catalog lacks them.

    Raises:
        UnknownRelation: there is none of some name.
    """
    catalog, strange = CATALOG, {name for name in names if name not in CATALOG}
    if strange:
        own = own_relations(strange)
        catalog = Catalog.of((*CATALOG, *own)) if len(own) == len(strange) else whole_catalog()
    return {name: catalog.get(name) for name in names}


def declared_relations() -> dict[str, Relation]:
    """Returns what table sources declare, by name; also of those switched off."""
    sources = apps.get_model("smartcis", "Source").objects.filter(kind="table")
    found: dict[str, Relation] = {}
    for config in sources.order_by("pk").values_list("config", flat=True):
        try:
            relation = declared(config)
        except (BadConfig, KeyError):
            continue  # written past the admin's checks: nothing can be read into it
        if relation.name not in CATALOG:
            found.setdefault(relation.name, relation)
    return found
