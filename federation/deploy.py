"""Deployment: what each device stream must send, so that all its readers are served at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from aspen.algebra.explain import expr_text
from aspen.algebra.expr import Col, Expr, chain, map_leaves
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
        predicate: rows for which it is not true need not be sent, over the relation's own
            columns; None when some reader wants every row.
        readers: how many fragments read it as it is measured, in whole rows.
        sampled: what network fragments ask of it at epochs, one text each.
    """

    stream: str
    device: str
    predicate: Expr | None
    readers: int
    sampled: tuple[str, ...] = ()

    @property
    def needed(self) -> bool:
        """Whether any query reads it; if not, its motes may sleep."""
        return self.readers > 0

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


def deploy(queries: Iterable[Fragments], catalog: Catalog) -> dict[str, StreamOrder]:
    """Returns the order for every device stream of a catalog, by name, that serves all queries.

    Args:
        queries: the fragments of every query that runs.

    Law: each row some reader's predicate keeps is sent. A stream that only network fragments read
    is not needed: its motes sample when an epoch comes, and send what the fragment makes of it.
    """
    readers: dict[str, list[SensorFragment]] = defaultdict(list)
    network: dict[str, NetworkFragment] = {}
    for fragments in queries:
        network.update({one.name: one for one in fragments.network})
        for fragment in fragments.sensors:
            readers[fragment.stream].append(fragment)
    orders: dict[str, StreamOrder] = {}
    for relation in sorted(catalog, key=lambda relation: relation.name):
        if relation.kind is SourceKind.STREAM and relation.device:
            found = readers[relation.name]
            sampled = tuple(
                f"sampled every {one.period_s:g} s for {name}"
                for name, one in sorted(network.items())
                if relation.name in relations_of(one.plan)
            )
            orders[relation.name] = StreamOrder(
                relation.name, relation.device, _any_of(found), len(found), sampled
            )
    return orders


def _any_of(readers: Iterable[SensorFragment]) -> Expr | None:
    """Returns the disjunction of all readers' predicates, None if one of them wants every row."""
    wanted: set[Expr] = set()
    for reader in readers:
        if reader.predicate is None:
            return None
        wanted.add(map_leaves(reader.predicate, _bare))
    return chain("OR", sorted(wanted, key=expr_text)) if wanted else None


def _bare(leaf: Expr) -> Expr:
    return Col(leaf.name.rpartition(".")[2]) if isinstance(leaf, Col) else leaf
