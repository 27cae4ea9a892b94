"""Maintain one recursion by every strategy: load, deletion, insertion, churn, memory; side by side.

Each strategy has a process of its own, gets the same rows in the same order, and is measured by
the time its processor worked. The constants of `aspen.views.choose` come from here, and here its
choices are held against the best of what was measured.
"""

from __future__ import annotations

import gc
import multiprocessing
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from random import Random
from typing import Any

import psutil

from aspen.algebra.explain import plan_text
from aspen.algebra.plan import Plan
from aspen.log.entry import Change, Declare, Register, Transaction
from aspen.model.catalog import Catalog
from aspen.model.schema import Column, Relation, Row, Type
from aspen.runtime.lane import Lane
from aspen.streamsql import compile_query
from aspen.views.choose import choose
from aspen.views.operators.fixpoint import FixpointOperator
from aspen.views.operators.support.strategies import STRATEGIES
from tests.bench.report import Target, percentile, report
from tests.experiments.network.topology import DENSE, SPARSE, transit_stub

LINK = Relation(
    "link", (Column("src", Type.INT), Column("dst", Type.INT), Column("cost", Type.INT))
)
SEED = Relation("seed", (Column("node", Type.INT),))
CATALOG = Catalog.of((LINK, SEED))

REACHABLE = """WITH RECURSIVE reach(src, dst) AS (
    SELECT l.src, l.dst FROM link l
  UNION SELECT r.src, l.dst FROM reach r JOIN link l ON l.src = r.dst
) SELECT src, dst FROM reach"""
CHEAPEST = """WITH RECURSIVE walk(origin, node, cost) AS (
    SELECT s.node, s.node, 0 FROM seed s
  UNION
    SELECT w.origin, l.dst, MIN(w.cost + l.cost) FROM walk w JOIN link l ON l.src = w.node
    GROUP BY w.origin, l.dst
) SELECT origin, node, cost FROM walk"""

BUDGET_S, QUICK_BUDGET_S = 8.0, 1.0
"""Processor time for the deletions and insertions of one strategy, at least one of each."""
GIVEN_UP_S = 120.0
EAGER = "absorption-eager(nodes=200000)"
"""Eager annotations of the dense shape would fill the memory: what a budget is for."""

SPELT = tuple(EAGER if name == "absorption-eager" else name for name in STRATEGIES)
CHURN = 0.5

Say = Callable[[str], Any]


@dataclass(frozen=True, slots=True)
class Case:
    """What is maintained.

    Args:
        links: (source, target, cost), in the order they come.
        seeds: vertices cheapest walks begin at; none for reachability from everywhere.
    """

    name: str
    query: str
    links: tuple[Row, ...]
    seeds: tuple[int, ...] = ()

    def plan(self) -> Plan:
        """Returns the recursion's plan."""
        return compile_query(self.query, CATALOG).plan


@dataclass(frozen=True, slots=True)
class Counts:
    """What the cost model is told of a case.

    Args:
        changed: rows of `link` that change in an epoch.
    """

    case: Case
    changed: float = 1.0

    def rows(self, relation: str) -> float | None:
        """Returns the rows of an input."""
        return float(len(self.case.links if relation == LINK.name else self.case.seeds))

    def changes(self, relation: str) -> float:
        """Returns how many of them change in an epoch."""
        return self.changed if relation == LINK.name else 1.0


@dataclass(slots=True)
class Sample:
    """What one strategy took on one case; times are of the processor.

    Args:
        memory_mb: the process's growth over loading.
        withdrawn: derivations that the deletions took away for good.
    """

    rows: int = 0
    derivations: int = 0
    load_ms: float = 0.0
    deletion_p50_ms: float = 0.0
    deletion_p95_ms: float = 0.0
    deletion_mean_ms: float = 0.0
    insertion_p50_ms: float = 0.0
    insertion_p95_ms: float = 0.0
    insertion_mean_ms: float = 0.0
    churn_ms: float = 0.0
    memory_mb: float = 0.0
    deletions: int = 0
    withdrawn: int = 0
    went_on_by: str = ""


def cases(*, quick: bool) -> tuple[Case, ...]:
    """Returns the three shapes."""
    side = 10 if quick else 25
    transits = 2 if quick else 4
    return (
        Case("dense reachability", REACHABLE, _network(DENSE, transits)),
        Case("tree reachability", REACHABLE, _network(SPARSE, transits)),
        Case("grid walks", CHEAPEST, _grid(side), tuple(range(0, side * side, side * side // 20))),
    )


def run(*, quick: bool, say: Say) -> dict[str, Any]:
    """Measure every strategy on every shape; give the bench's JSON object."""
    budget_s = QUICK_BUDGET_S if quick else BUDGET_S
    figures: dict[str, Any] = {"budget_s": budget_s, "eager": EAGER, "churned share": CHURN}
    targets: list[Target] = []
    samples: dict[str, dict[str, Sample]] = {}
    for case in cases(quick=quick):
        found = samples[case.name] = {}
        for spelt in SPELT:
            sample = _apart(case, spelt, budget_s)
            if sample is None:
                say(f"{case.name}, {spelt}: given up after {GIVEN_UP_S:.0f} s")
                continue
            found[spelt] = sample
            say(
                f"{case.name}, {spelt}: load {sample.load_ms:.0f} ms, deletion "
                f"{sample.deletion_p50_ms:.2f}/{sample.deletion_p95_ms:.1f} ms, insertion "
                f"{sample.insertion_p50_ms:.2f} ms, churn {sample.churn_ms:.0f} ms, "
                f"{sample.memory_mb:.0f} MB {sample.went_on_by}"
            )
        targets += _chosen(case, found)
    figures["shapes"] = {
        name: {spelt: asdict(sample) for spelt, sample in found.items()}
        for name, found in samples.items()
    }
    figures["constants"] = _constants(samples)
    say(f"constants: {figures['constants']}")
    return report("strategies", figures, targets)


def _network(density: float, transits: int) -> tuple[Row, ...]:
    topology = transit_stub(1, links_per_vertex=density, transits=transits)
    links = [(*pair, latency) for pair, latency in topology.links.items()]
    Random(1).shuffle(links)
    return tuple(links)


def _grid(side: int) -> tuple[Row, ...]:
    random = Random(1)
    links: list[Row] = []
    for node in range(side * side):
        for other, there in ((node + 1, (node + 1) % side), (node + side, node + side < side**2)):
            if there:
                cost = random.randint(1, 9)
                links += [(node, other, cost), (other, node, cost)]
    random.shuffle(links)
    return tuple(links)


def _apart(case: Case, spelt: str, budget_s: float) -> Sample | None:
    """Measure in a process of its own, so that memory is the strategy's; None if it takes long."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        measured = pool.submit(measure, case, spelt, budget_s)
        try:
            return measured.result(timeout=GIVEN_UP_S + 4 * budget_s)
        except TimeoutError:
            for process in pool._processes.values():  # nothing public ends a busy one
                process.kill()
            return None


def measure(case: Case, spelt: str, budget_s: float) -> Sample:
    """Measure one strategy on one case, in this process."""
    lane, sample = Lane(), Sample()
    lane.apply([(1, Declare(0.0, LINK)), (2, Declare(0.0, SEED))])
    lane.apply([(3, Register(0.0, "v", plan_text(case.plan()), spelt))])

    def change_ms(weight: int, relation: str, rows: Sequence[Row]) -> float:
        entry = Transaction(0.0, tuple(Change(relation, weight, row) for row in rows))
        began = time.process_time()
        changes = lane.apply([(lane.position + 1, entry)])
        assert not any(change.error for change in changes), changes
        return 1e3 * (time.process_time() - began)

    change_ms(1, SEED.name, [(node,) for node in case.seeds])
    gc.collect()
    before = psutil.Process().memory_info().rss
    sample.load_ms = change_ms(1, LINK.name, case.links)
    gc.collect()
    sample.memory_mb = (psutil.Process().memory_info().rss - before) / 2**20
    sample.rows = len(lane.rows("v"))
    sample.derivations = _derivations(lane)

    deletions: list[float] = []
    insertions: list[float] = []
    for link in Random(2).sample(case.links, min(100, len(case.links))):
        deletions.append(change_ms(-1, LINK.name, [link]))
        sample.withdrawn += sample.derivations - _derivations(lane)
        insertions.append(change_ms(1, LINK.name, [link]))
        if sum(deletions) + sum(insertions) > 1e3 * budget_s:
            break
    sample.deletions = len(deletions)
    sample.deletion_p50_ms, sample.deletion_p95_ms = _percentiles(deletions)
    sample.insertion_p50_ms, sample.insertion_p95_ms = _percentiles(insertions)
    sample.deletion_mean_ms = round(sum(deletions) / len(deletions), 3)
    sample.insertion_mean_ms = round(sum(insertions) / len(insertions), 3)
    churned = Random(3).sample(case.links, round(CHURN * len(case.links)))
    sample.churn_ms = round(change_ms(-1, LINK.name, churned), 1)
    sample.load_ms, sample.memory_mb = round(sample.load_ms, 1), round(sample.memory_mb, 1)
    if lane.errors:
        sample.went_on_by = ", ".join(type(one.support).__name__ for one in _fixpoints(lane))
    return sample


def _fixpoints(lane: Lane) -> list[FixpointOperator]:
    """Returns the recursions of its one view."""
    node = lane.views.by_name["v"].node
    waiting, found = [] if node is None else [node], []
    while waiting:
        one = waiting.pop()
        waiting += one.inputs
        if isinstance(one, FixpointOperator):
            found.append(one)
    return found


def _derivations(lane: Lane) -> int:
    """Count the derivations held, 0 where none are."""
    groups = [group for one in _fixpoints(lane) for group in one.groups.values()]
    return sum(len(group.waiting) for group in groups)


def _percentiles(values: Sequence[float]) -> tuple[float, float]:
    return round(percentile(values, 0.5), 3), round(percentile(values, 0.95), 3)


def _chosen(case: Case, found: dict[str, Sample]) -> list[Target]:
    """Hold what the cost model chooses against the best of what was measured."""
    every: dict[str, tuple[float, Callable[[Sample], float]]] = {
        "one link": (1.0, lambda one: one.deletion_mean_ms + one.insertion_mean_ms),
        "half of all links": (CHURN * len(case.links), lambda one: one.churn_ms),
    }
    targets = []
    for what, (changed, cost_ms) in every.items():
        chosen = choose(case.plan(), Counts(case, changed)).strategy
        best = min(cost_ms(sample) for sample in found.values())
        ratio = round(cost_ms(found[chosen]) / max(best, 1e-3), 2)
        name = f"{case.name}, {what} at once: {chosen}, over the best strategy"
        targets.append(Target(name, ratio, 2.0, "times"))
    return targets


def _constants(samples: dict[str, dict[str, Sample]]) -> dict[str, float]:
    """Work out the constants of the cost model, in µs per derivation."""
    dense, tree = samples["dense reachability"], samples["tree reachability"]
    plain, proved = tree["justification"], tree["backward-forward"]
    withdrawn = plain.withdrawn / plain.deletions
    moved_ms = plain.deletion_mean_ms + plain.insertion_mean_ms
    anew = dense["recompute"]
    return {
        "load_us": round(1e3 * anew.load_ms / anew.derivations, 2),
        "move_us": round(1e3 * moved_ms / withdrawn, 2),
        "prove_us": round(1e3 * (proved.deletion_mean_ms - plain.deletion_mean_ms) / withdrawn, 2),
    }
