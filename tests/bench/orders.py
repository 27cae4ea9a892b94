"""`manage.py bench orders`: depth-first order of variables against the order of arrival.

asked   the function that WHY makes of one row: how many answers stay within its budget,
        how large they are; depth first is what the product does
kept    the annotations that `absorption-eager` keeps of all rows; they are in the order of
        arrival, and are arranged here once all are there
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from random import Random
from statistics import mean, median
from time import thread_time
from typing import Any

from aspen.algebra.explain import plan_text
from aspen.log.entry import Change, Declare, Entry, Register, Transaction
from aspen.model.catalog import Catalog
from aspen.model.schema import Column, Relation, Type
from aspen.provenance.bdd import Bdd, Function
from aspen.runtime.lane import Lane
from aspen.streamsql import compile_query
from aspen.views import why as product_why
from aspen.views.derivations import BaseRow, Item
from aspen.views.node import Node
from aspen.views.operators.fixpoint import FixpointOperator
from aspen.views.operators.support.absorption_eager import AbsorptionEager
from tests.bench.report import report, spread
from tests.dfs_order import DepthFirstOrder, arrange
from tests.experiments.network.topology import DENSE, SPARSE, transit_stub

Link = tuple[int, int]

ORDERS = ("arrival", "depth first")
MEDIUM = 2.5  # links for each vertex, between the seeds' densities
LINK = Relation("link", (Column("src", Type.INT), Column("dst", Type.INT)))
REACH = """
WITH RECURSIVE reach(src, dst) AS (
  SELECT src, dst FROM link
 UNION
  SELECT l.src, r.dst FROM link l JOIN reach r ON r.src = l.dst
) SELECT src, dst FROM reach
"""


def ladder(rungs: int) -> list[Link]:
    """Returns a two-way ladder."""
    pairs = [(2 * n, 2 * n + 1) for n in range(rungs)]
    pairs += [(n, n + 2) for n in range(2 * rungs - 2)]
    return [link for one, other in pairs for link in ((one, other), (other, one))]


def network(transits: int, density: float) -> list[Link]:
    """Returns a transit-stub network of 25 vertices for each transit node."""
    return list(transit_stub(1, links_per_vertex=density, transits=transits).links)


def run(*, quick: bool, say: Callable[[str], Any]) -> dict[str, Any]:
    """Measures; returns the bench's JSON object."""
    kept = {"ladder of 6": ladder(6), "sparse, 75 vertices": network(3, SPARSE)}
    asked = {
        "ladder of 10": ladder(10),
        "ladder of 12": ladder(12),
        "ladder of 14": ladder(14),
        "dense, 25 vertices": network(1, DENSE),
        "medium, 50 vertices": network(2, MEDIUM),
        "sparse, 100 vertices": network(4, SPARSE),
    }
    pairs = 5 if quick else 20
    figures: dict[str, Any] = {"kept": {}, "asked": {}}
    for name, links in kept.items():
        figures["kept"][name] = _kept(_shuffled(links))
        say(f"kept, {name}: {figures['kept'][name]}")
    for name, links in asked.items():
        figures["asked"][name] = _asked(_shuffled(links), pairs)
        say(f"asked, {name}: {figures['asked'][name]}")
    return report("orders", figures, [])


def _shuffled(links: list[Link]) -> list[Link]:
    Random(1).shuffle(links)
    return links


def _loaded(links: Sequence[Link], strategy: str) -> tuple[Lane, Node]:
    lane = Lane()
    _take(lane, Declare(0.0, LINK))
    _take(lane, Transaction(0.0, tuple(Change("link", 1, link) for link in links)))
    plan = plan_text(compile_query(REACH, Catalog.of([LINK])).plan)
    _take(lane, Register(0.0, "reach", plan, strategy))
    node = lane.views.by_name["reach"].node
    assert node is not None
    return lane, node


def _take(lane: Lane, entry: Entry) -> None:
    lane.apply([(lane.position + 1, entry)])


def _fixpoint(node: Node) -> FixpointOperator:
    return node if isinstance(node, FixpointOperator) else _fixpoint(node.inputs[0])


def _kept(links: list[Link]) -> dict[str, Any]:
    """Loads a view by absorption-eager, orders its variables, deletes and inserts some links."""
    found: dict[str, Any] = {}
    for order in ORDERS:
        lane, node = _loaded(links, "absorption-eager")
        support = _fixpoint(node).support
        assert isinstance(support, AbsorptionEager)
        manager = support.index.manager
        variable_of = {row: variable for (_, row), variable in support.variables.items()}
        began_s = thread_time()
        if order == "depth first":
            walk: DepthFirstOrder[Link] = DepthFirstOrder()
            for link in links:
                walk.add(link, [link])
            arrange(manager, [variable_of[one] for one in walk.items() if one in variable_of][::-1])
        arranged_s = thread_time() - began_s
        nodes = _shared(manager, [held.function for held in support.held.values()])
        took_ms = []
        for link in links[:10]:
            for weight in (-1, 1):
                began_s = thread_time()
                _take(lane, Transaction(1.0, (Change("link", weight, link),)))
                took_ms.append((thread_time() - began_s) * 1e3)
        found[order] = {
            "nodes": nodes,
            "arrange_ms": round(arranged_s * 1e3, 1),
            "change_ms": spread(took_ms)["p50"],
        }
    return found


def _shared(manager: Bdd, functions: list[Function]) -> int:
    """Counts the decision nodes of all functions, each node once."""
    met = {manager.true, manager.false}
    waiting = functions
    while waiting:
        function = waiting.pop()
        if function not in met:
            met.add(function)
            waiting += manager.branches(function)[1:]
    return len(met) - 2


class _AsMet(product_why._Session):
    """WHY with its variables in the order in which base rows are met."""

    def _traversal(self, order: list[Item]) -> list[BaseRow]:
        found = (self._derivations.base(item) for item in order)
        return list(dict.fromkeys(base for base in found if base is not None))


def _asked(links: list[Link], pairs: int) -> dict[str, Any]:
    """Asks WHY of some pairs."""
    _, node = _loaded(links, "justification")
    chosen = Random(2).sample(sorted(node.contents(), key=repr), pairs)
    found: dict[str, Any] = {}
    for order in ORDERS:
        sizes, took_ms = [], []
        for row in chosen:
            session = (product_why._Session if order == "depth first" else _AsMet)(every=True)
            began_s = thread_time()
            with suppress(product_why._TooLarge):
                sizes.append(session._manager.size(session._solve((node, row))))
            took_ms.append((thread_time() - began_s) * 1e3)
        found[order] = {
            "asked": pairs,
            "within_budget": len(sizes),
            "nodes_p50": median(sizes) if sizes else None,
            "ms_mean": round(mean(took_ms), 1),
        }
    return found
