"""Deployment: what each device stream must send, so that all its readers are served at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from aspen.algebra.explain import expr_text
from aspen.algebra.expr import Col, Expr, Op, columns_in, substitute
from aspen.algebra.plan import relations_of
from aspen.model.catalog import Catalog
from aspen.model.schema import SourceKind
from federation.fragment import NetworkFragment
from federation.split import Fragments, SensorFragment


@dataclass(frozen=True, slots=True)
class StreamOrder:
    """What the motes of one device stream are told.

    Args:
        stream: the relation.
        device: the kind of sensor.
        needed: whether any query reads it; if not, its motes may sleep.
        columns: what a row holds; whole rows for now, as the log's later readers are unknown.
        predicate: rows for which it is not true need not be sent, over the relation's own
            columns; None when some reader wants every row.
        readers: how many fragments read it as it is measured.
        sampled: what network fragments ask of it at epochs, one text each.
    """

    stream: str
    device: str
    needed: bool
    columns: tuple[str, ...]
    predicate: Expr | None
    readers: int
    sampled: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Print the order as one line."""
        if not self.needed:
            what = "; ".join(self.sampled) or "asleep, nobody reads it"
            return f"{self.stream} ({self.device}): {what}"
        only = f" where {expr_text(self.predicate)}" if self.predicate is not None else ""
        plural = "" if self.readers == 1 else "s"
        sent = f"send{only or ' all'}, {self.readers} reader{plural}"
        return f"{self.stream} ({self.device}): {'; '.join((sent, *self.sampled))}"


@dataclass(frozen=True, slots=True)
class Deployment:
    """The orders for every device stream of a catalog, by name."""

    orders: tuple[StreamOrder, ...]

    def order(self, stream: str) -> StreamOrder:
        """Returns the order of one stream.

        Raises:
            KeyError: it is no device stream of the catalog.
        """
        for order in self.orders:
            if order.stream == stream:
                return order
        raise KeyError(stream)

    @property
    def text(self) -> str:
        """Print the deployment, one stream per line."""
        return "".join(f"{order.text}\n" for order in self.orders)


def deploy(queries: Iterable[Fragments], catalog: Catalog) -> Deployment:
    """Returns the orders that serve all queries.

    Args:
        queries: the fragments of every query that runs.

    Law: each row some reader's predicate keeps is sent. A stream that only network fragments read
    is not needed: its motes sample when an epoch comes, and send what the fragment makes of it.
    """
    readers: dict[str, list[SensorFragment]] = {}
    network: dict[str, NetworkFragment] = {}
    for fragments in queries:
        network.update({one.name: one for one in fragments.network})
        for fragment in fragments.sensors:
            readers.setdefault(fragment.stream, []).append(fragment)
    orders: list[StreamOrder] = []
    for relation in sorted(catalog, key=lambda relation: relation.name):
        if relation.kind is SourceKind.STREAM and relation.device:
            found = readers.get(relation.name, [])
            predicate = _any_of(found)
            orders.append(
                StreamOrder(
                    relation.name,
                    relation.device,
                    bool(found),
                    relation.names,
                    predicate,
                    len(found),
                    tuple(
                        f"sampled every {one.period_s:g} s for {name}"
                        for name, one in sorted(network.items())
                        if relation.name in relations_of(one.plan)
                    ),
                )
            )
    return Deployment(tuple(orders))


def _any_of(readers: Iterable[SensorFragment]) -> Expr | None:
    """Returns the disjunction of all readers' predicates, None if one of them wants every row."""
    wanted: list[Expr] = []
    for reader in readers:
        if reader.predicate is None:
            return None
        bare: dict[str, Expr] = {
            name: Col(name.rpartition(".")[2]) for name in columns_in(reader.predicate)
        }
        predicate = substitute(reader.predicate, bare)
        if predicate not in wanted:
            wanted.append(predicate)
    result: Expr | None = None
    for predicate in sorted(wanted, key=expr_text):
        result = predicate if result is None else Op("OR", result, predicate)
    return result
