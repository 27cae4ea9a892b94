"""Stores: tables in which a source's contents are kept, and the difference with what came."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from aspen.model.schema import Row
from smartcis.sources.stores.held import store_held
from smartcis.sources.stores.reservations import store_reservations
from smartcis.sources.stores.software import store_software

Store = Callable[[str, str, Mapping[str, Row]], int]

_STORES: dict[str, Store] = {
    "reservation": store_reservations,
    "machine_software": store_software,
}


def store_of(relation: str) -> Store:
    """Returns what keeps a relation's rows; those without a table of ours are kept as they are."""
    return _STORES.get(relation, store_held)
