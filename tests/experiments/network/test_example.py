"""The running example of [LTZIL09], Fig. 2, 3 and 5: links A→B p1, B→C p2, C→A p3, C→B p4."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from aspen.provenance.why import minimal_sets
from tests.experiments.network.bits import members
from tests.experiments.network.fact import link
from tests.experiments.network.network import QueryNetwork
from tests.experiments.network.partition import by_vertex

A, B, C = range(3)
LINKS = {1: link(A, B), 2: link(B, C), 3: link(C, A), 4: link(C, B)}
ANNOTATIONS = {  # Fig. 2, derivation step 4
    (A, A): {(1, 2, 3)},
    (A, B): {(1,)},
    (A, C): {(1, 2)},
    (B, A): {(2, 3)},
    (B, B): {(2, 4), (1, 2, 3)},
    (B, C): {(2,)},
    (C, A): {(3,)},
    (C, B): {(4,), (1, 3)},
    (C, C): {(2, 4), (1, 2, 3)},
}


def example(strategy: str) -> QueryNetwork:
    """Three nodes; every message takes one step, so that steps are the figure's."""
    network = QueryNetwork(
        strategy,
        3,
        owner=by_vertex([A, B, C]),
        latency_s=lambda _from, _to: 1.0,
        bandwidth_bytes_per_s=float("inf"),
    )
    network.insert(LINKS.values())
    return network


def annotations(network: QueryNetwork) -> dict[tuple[int, int], set[tuple[int, ...]]]:
    """Each row's minimal sets of facts, by the names p1 … p4."""
    names = {
        network.variables[fact]: name for name, fact in LINKS.items() if fact in network.variables
    }
    return {
        (x, y): {
            tuple(sorted(names[variable] for variable in product))
            for product in products_of(network, found)
        }
        for peer in network.peers
        for x, part in peer.held.items()
        for y, found in part.items()
    }


def products_of(network: QueryNetwork, annotation: Any) -> Iterable[Iterable[int]]:
    """The lazy strategy keeps products, the others functions."""
    if isinstance(annotation[0], int):
        return [members(product) for product in annotation]
    return minimal_sets(network.manager, annotation[0])


def listen(network: QueryNetwork) -> list[tuple[Any, ...]]:
    """Keep what is said from now on."""
    sent: list[tuple[Any, ...]] = []
    send = network.exchange.send

    def keep(sender, receiver, items, size_bytes):
        sent.extend(items)
        send(sender, receiver, items, size_bytes)

    network.exchange.send = keep
    return sent


def delete_p4(strategy: str) -> dict[str, int]:
    network = example(strategy)
    network.reset()
    network.delete([LINKS[4]])
    assert network.rows() == set(ANNOTATIONS), "every row has another derivation"
    return dict(network.meter.items)


@pytest.mark.parametrize("strategy", ["absorption-every", "absorption-eager"])
def test_annotations_are_those_of_figure_2(strategy):
    assert annotations(example(strategy)) == ANNOTATIONS


@pytest.mark.parametrize("strategy", ["absorption-lazy", "absorption-push"])
def test_lazy_annotations_are_part_of_them(strategy):
    found = annotations(example(strategy))
    assert found.keys() == ANNOTATIONS.keys()
    assert all(found[row] <= ANNOTATIONS[row] for row in ANNOTATIONS)


@pytest.mark.parametrize(
    "strategy", ["dred", "recompute", "relative", "absorption-lazy", "absorption-push"]
)
def test_sets_and_lazy_schemes_ship_16_tuples(strategy):
    assert example(strategy).meter.items == {"edge": 4, "row": 12}


def test_provenance_ships_4_more():
    assert example("absorption-every").meter.items == {"edge": 4, "row": 12 + 4}


def test_minship_absorbs_one_of_the_4():
    # (C,B) from B, p1 p2 p3 p4: B has sent C p2 p4 already.
    assert example("absorption-eager").meter.items == {"edge": 4, "row": 12 + 3}


@pytest.mark.parametrize("strategy", ["absorption-every", "absorption-eager"])
def test_deleting_p4_costs_2_messages(strategy):
    network = example(strategy)
    network.reset()
    network.delete([LINKS[4]])
    assert network.meter.items == {"dead": 2}
    assert network.meter.packets == 2
    assert annotations(network) == {
        row: {product for product in products if 4 not in product}
        for row, products in ANNOTATIONS.items()
    }


def test_lazy_deletion_fetches_what_it_had_held_back():
    # Of (B,B), C had sent B only p2 p4: B asks, C sends p1 p2 p3. Push sends all that waited.
    assert delete_p4("absorption-lazy") == {"dead": 2, "ask": 1, "row": 1}
    assert delete_p4("absorption-push") == {"dead": 2, "row": 3}


def test_dred_ships_everything_anew():
    # Fig. 5 shows the 9 re-derivations of steps 6 to 8. Its 9 over-deletions leave out the 3 that
    # reach a row already deleted, and the shipped deletion of the link. Who asks for what is left
    # open there; here it costs 8 notices.
    assert delete_p4("dred") == {"unedge": 1, "over": 12, "again": 8, "row": 9}


def test_dred_ships_16_tuples_if_each_counts_once():
    """The text's 16: the link, 9 rows deleted, 6 rows brought back by what was shipped.

    The other 3 rows come back from links at home; when the 3 that step 8 ships once more arrive,
    they are there already.
    """
    network = example("dred")
    sent = listen(network)
    network.delete([LINKS[4]])
    deleted = {item[1:3] for item in sent if item[0] == "over"}
    at_home = {row for link_ in (1, 2, 3) for row in LINKS[link_].rows}
    brought_back = {item[1:3] for item in sent if item[0] == "row"} - at_home
    links = [item for item in sent if item[0] == "unedge"]
    assert deleted == set(ANNOTATIONS)
    assert (len(links), len(deleted), len(brought_back)) == (1, 9, 6)
    assert len(links) + len(deleted) + len(brought_back) == 16


def test_recomputing_ships_every_row_anew():
    assert delete_p4("recompute") == {"unedge": 1, "restart": 2, "row": 9}
