"""The base relations as they stand: the building's own, and those that table sources declare."""

from __future__ import annotations

from django.apps import apps

from aspen.model.catalog import Catalog
from aspen.model.schema import Relation
from smartcis.catalog import CATALOG
from smartcis.wrappers.declared import declared
from smartcis.wrappers.errors import BadConfig


def whole_catalog() -> Catalog:
    """Returns every base relation."""
    return Catalog.of((*CATALOG, *declared_relations().values(), *own_relations()))


def own_relations() -> list[Relation]:
    """Returns what people declared themselves."""
    return [own.relation for own in apps.get_model("smartcis", "OwnRelation").objects.all()]


def relation_named(name: str) -> Relation:
    """Returns a base relation.

    Raises:
        UnknownRelation: there is none of that name.
    """
    return CATALOG.get(name) if name in CATALOG else whole_catalog().get(name)


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
