"""`manage.py bench peers`: one run, every engine on every case, answers compared first."""

from __future__ import annotations

import math
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from tests.bench.peers.cases import QUERIES, Case, graph, make
from tests.bench.peers.engines import DUCKDB, ENGINES, OURS, PATHWAY, Engine, Worker, working
from tests.bench.peers.figure import draw
from tests.bench.peers.graphs import GRAPHS
from tests.bench.peers.joins import join_cases
from tests.bench.peers.recursions import recursion_cases
from tests.bench.report import Target, percentile, report

RATIOS = {"load_s": 0.8, "deletion_p50_ms": 0.5, "deletion_p95_ms": 0.5, "peak_mib": 0.5}
"""Ours over Pathway's, at most."""

RECOMPUTE_FROM_PLACES = 625
BUDGET_MIB = 8_000
FIGURE = Path(__file__).resolve().parents[3] / "docs" / "figures" / "peers.svg"

Say = Callable[[str], Any]
Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Scale:
    """How much to measure.

    Args:
        runs: processes per engine and case, each loads and changes.
        runs_s: after that long no further run of a case begins, where its engine may be cut short.
        patient: whether ours and Pathway make all runs, however long they take.
        changes: deletions and insertions per run.
        changes_s: after that long a run makes no further changes than `changes_at_least`.
        checked: changes after which answers are compared.
        budget_s: a process that takes longer is ended.
    """

    runs: int
    runs_s: float
    patient: bool
    changes: int
    changes_s: float
    changes_at_least: int
    checked: int
    budget_s: float


FULL = Scale(5, 15.0, True, 25, 1.5, 5, 3, 120.0)
QUICK = Scale(5, 1.0, False, 5, 0.3, 1, 1, 20.0)
QUICK_GRAPHS = ("network 100 sparse", "network 100 dense", "grid 225")


def run(*, quick: bool, say: Say) -> dict[str, Any]:
    """Compare; give the bench's JSON object. A full run draws the figure."""
    scale = QUICK if quick else FULL
    graphs = QUICK_GRAPHS if quick else tuple(GRAPHS)
    engines = [engine for engine in ENGINES if not engine.missing]
    missing = {engine.name: engine.missing for engine in ENGINES if engine.missing}
    for reason in missing.values():
        say(reason)
    compared: dict[str, Figures] = {}
    left_out: dict[str, str] = {}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        workers = {engine: stack.enter_context(working(engine)) for engine in engines}
        for name in graphs:
            links = graph(name)
            for query in sorted(QUERIES):
                case = make(name, query, links)
                if case is None:
                    left_out[f"{name}: {query}"] = "all pairs would be too many rows: one source"
                    continue
                say(case.name)
                compared[case.name] = _compare(case, case.write(folder), workers, scale, say)
        for case in chain(recursion_cases(quick=quick), join_cases(quick=quick)):
            say(case.name)
            compared[case.name] = _compare(case, case.write(folder), workers, scale, say)
    figures = {
        "cases": compared,
        "left_out": left_out,
        "missing": missing,
        "scale": {"runs": scale.runs, "changes_per_run": scale.changes},
        "pathway": PATHWAY_NOTE,
    }
    if not quick:
        draw(FIGURE, compared, RATIOS)
    return report("peers", figures, _targets(compared))


PATHWAY_NOTE = (
    "Pathway 0.33, one worker thread, as every distribution allows; under the Business Source "
    "License 1.1, whose grant covers non-production use such as this and which has no clause on "
    "publishing measurements. Times run from the commit to the moment the last change of the "
    "answer has reached a Python callback."
)


def _compare(
    case: Case, path: Path, workers: Mapping[Engine, Worker], scale: Scale, say: Say
) -> Figures:
    """Measure a case on every engine; figures count only where the answers agree."""
    found: Figures = {
        "places": len({row[0] for row in case.tables.get("link", ())}),
        "links": len(case.tables.get("link", ())),
        "input_rows": sum(map(len, case.tables.values())),
    }
    digests: dict[str, list[list[int]]] = {}
    taken: dict[Engine, list[Figures]] = {}
    for engine, worker in workers.items():
        request = {"case": str(path), "budget_mib": BUDGET_MIB, "budget_s": scale.budget_s}
        checked = worker.ask(mode="check", changes=scale.checked, **request)
        if "skipped" in checked:
            found[engine.name] = checked
        else:
            digests[engine.name] = checked["digests"]
            runs_s = math.inf if scale.patient and engine in (OURS, PATHWAY) else scale.runs_s
            taken[engine] = _runs(worker, request, scale, runs_s)
            found[engine.name] = _figures(taken[engine])
        say(f"  {engine.name}: {found[engine.name]}")
    found["over"] = {
        other.name: _over(taken[OURS], taken[other])
        for other in (PATHWAY, DUCKDB)
        if other in taken and "runs" in found[other.name] and "runs" in found.get(OURS.name, {})
    }
    answers = {repr(digest) for digest in digests.values()}
    found["answers_agree"] = len(answers) <= 1
    found["rows"] = next((digest[0][0] for digest in digests.values()), 0)
    return found


def _runs(worker: Worker, request: Mapping[str, Any], scale: Scale, runs_s: float) -> list[Figures]:
    runs: list[Figures] = []
    until = time.monotonic() + runs_s
    while len(runs) < scale.runs and (not runs or time.monotonic() < until):
        runs.append(
            worker.ask(
                mode="time",
                changes=scale.changes,
                changes_s=scale.changes_s,
                changes_at_least=scale.changes_at_least,
                **request,
            )
        )
        if "skipped" in runs[-1]:
            return runs[-1:]
    return runs


def _figures(runs: Sequence[Figures]) -> Figures:
    if "skipped" in runs[0]:
        return dict(runs[0])
    found: Figures = {
        "runs": len(runs),
        **{
            what: _short(statistics.median(run[what] for run in runs))
            for what in ("load_s", "load_cpu_s", "peak_mib")
        },
    }
    for what in ("deletion", "insertion"):
        taken = [value for run in runs for value in run[f"{what}_ms"]]
        found[f"{what}s"] = len(taken)
        found[f"{what}_p50_ms"] = _short(statistics.median(taken))
        found[f"{what}_p95_ms"] = _short(percentile(taken, 0.95))
        busy = [value for run in runs for value in run[f"{what}_cpu_ms"]]
        found[f"{what}_cpu_p50_ms"] = _short(statistics.median(busy))
    return found


def _over(ours: Sequence[Figures], other: Sequence[Figures]) -> dict[str, float]:
    """Returns ours over theirs, of deletions by those that both have made.

    All engines make the same changes in the same order, but a slow one fewer of them in its time.
    """
    made = min(len(run["deletion_ms"]) for run in [*ours, *other])
    mine, theirs = (
        _figures([{**run, "deletion_ms": run["deletion_ms"][:made]} for run in runs])
        for runs in (ours, other)
    )
    return {what: _ratio(mine, theirs, what) for what in RATIOS}


def _targets(compared: Mapping[str, Figures]) -> list[Target]:
    disagreeing = [name for name, figures in compared.items() if not figures["answers_agree"]]
    targets = [Target("cases whose answers differ", len(disagreeing), 0, "cases")]
    for name, figures in compared.items():
        if not figures["answers_agree"]:
            continue
        over = figures["over"]
        targets += [
            Target(f"{name}, {what}: ours / Pathway", ratio, RATIOS[what], "times")
            for what, ratio in over.get(PATHWAY.name, {}).items()
        ]
        if DUCKDB.name in over and figures["places"] >= RECOMPUTE_FROM_PLACES:
            what = "deletion_p50_ms"
            ratio = over[DUCKDB.name][what]
            targets.append(Target(f"{name}, {what}: ours / DuckDB", ratio, 1.0, "times"))
    return targets


def _ratio(ours: Figures, other: Figures, what: str) -> float:
    # Memory can stay below one page; a ratio of nothing is nothing.
    return _short(ours[what] / other[what]) if other[what] else 0.0


def _short(value: float) -> float:
    """Keep four significant digits."""
    return float(f"{value:.4g}")
