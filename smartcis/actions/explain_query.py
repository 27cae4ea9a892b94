"""Explain a query: its way through every border, before anybody submits it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from aspen.algebra.explain import plan_text
from aspen.algebra.lowerable import reason_against
from aspen.algebra.plan import Plan, relations_of
from aspen.effort import MOST_STEPS
from aspen.model.catalog import Catalog
from aspen.model.schema import Relation, SourceKind
from aspen.runtime.own_relations import SYSTEM_NAMES
from aspen.streamsql import Compiled
from aspen.streamsql.statement import Statement
from aspen.views.choose import choose
from federation.explain import Journey
from smartcis.access.owner import Owner
from smartcis.actions.support.compile_for import compile_for
from smartcis.catalog import SYS_EPOCHS
from smartcis.compiling.doubts import doubts_about
from smartcis.compiling.drafts import view_name
from smartcis.compiling.fair_turn import fair_turn
from smartcis.compiling.lanes import lanes_text
from smartcis.compiling.live_catalog import live_catalog
from smartcis.compiling.statistics import house_statistics
from smartcis.models.closed import behind, closed_among
from smartcis.placements.optimizer import assumed


@dataclass(frozen=True, slots=True)
class Explanation:
    """An explanation.

    Args:
        text: all ten borders.
        data: borders 1 to 6 as plain values: alternatives, graphs, pieces, estimates.
        warnings: what speaks against running it as it stands.
    """

    text: str
    data: dict[str, Any]
    warnings: list[dict[str, Any]]


def explain_query(
    statement: Statement, owner: Owner, *, weights: str = "", joins: int | None = None
) -> Explanation:
    """Returns what each border makes of one query.

    Args:
        weights: of the metric, as `energy=1, latency=0.001`; empty for the house's own.
        joins: the most joins inside the network; 0 for no limit, None for the house's own.

    Raises:
        AspenError: it cannot be compiled, or the weights are none.
        Refused: it reads what is closed to the owner.
    """
    with fair_turn(2 * MOST_STEPS):
        compiled = compile_for(statement, owner)
        catalog = live_catalog()
        given = assumed(weights, joins)
        known = given.statistics or house_statistics()
        name = view_name(plan_text(compiled.plan), compiled.sources)
        borders = {
            "7 the world → readings": _readings_text(compiled.sources, catalog),
            "8 readings, edits, commands, ticks → log": _log_text(compiled.sources, catalog),
            "9 log → view deltas": _engine_text(
                name,
                choose(compiled.plan, known).strategy,
                lanes_text(compiled.plan, catalog),
                _selections_text(compiled.plan, catalog),
            ),
            "10 deltas → snapshot store → socket → pixels": _store_text(name, compiled),
        }
        later = "\n".join(f"── {title} ──\n{text}" for title, text in borders.items())
        journey = Journey(statement, catalog, given)
        doubts = doubts_about(statement, compiled, catalog, known)
        warned = "".join(f"warning: {doubt.render(statement.text)}\n\n" for doubt in doubts)
        text = f"{warned}{journey.text.rstrip()}\n\n{later}"
        return Explanation(text, journey.data, [doubt.as_dict() for doubt in doubts])


def _base_relations(sources: frozenset[str], catalog: Catalog) -> list[Relation]:
    """Returns the base relations behind sources, through all views that can be read."""
    return [catalog.get(name) for name, is_view in sorted(behind(sources).items()) if not is_view]


def _readings_text(sources: frozenset[str], catalog: Catalog) -> str:
    """Prints which devices feed a query."""
    streams = [r for r in _base_relations(sources, catalog) if r.kind is SourceKind.STREAM]
    lines = [f"{r.name}: {r.device} sensors, about {r.rate_hz:g} readings/s" for r in streams]
    if lines:
        # See smartcis.simulation.deployment: a view registered later starts from these rows.
        lines.append("a new query has all of them sent; border 5's pieces move in while it runs")
    return _block(lines or ["no device is asked"])


def _log_text(sources: frozenset[str], catalog: Catalog) -> str:
    """Prints how each base relation reaches the log."""
    return _block(
        f"{relation.name} → log {settings.LOG_NAME}, by {_way(relation)}"
        for relation in _base_relations(sources, catalog)
    )


def _way(relation: Relation) -> str:
    if relation.name == "clock":
        return "the ticks themselves"
    if relation.name in SYSTEM_NAMES:
        return "no way: the engine keeps it itself, and refreshes it at ticks"
    if relation.name == SYS_EPOCHS.name:
        return "the source that listens to the engine"
    if relation.kind is SourceKind.STREAM:
        return "ingest, validated against its sensor"
    return "the outbox, in the edit's own transaction"


def _engine_text(name: str, strategy: str, lanes: str, selections: list[str]) -> str:
    """Prints where the view will live."""
    view = f"view {name}: strategy {strategy}, beside the views it reads"
    return _block([view, lanes, *selections])


def _selections_text(plan: Plan, catalog: Catalog) -> list[str]:
    """Returns for each stream a plan reads where selections over it run, and why."""
    lines: list[str] = []
    for name in sorted(relations_of(plan)):
        relation = catalog.get(name)
        if relation.kind is SourceKind.STREAM:
            against = reason_against(relation, [plan])
            lines.append(
                f"selections over {name} in Spark, in front of the lanes, if all its readers select"
                if against is None
                else f"selections over {name} in the lane, because {against}"
            )
    return lines


def _store_text(name: str, compiled: Compiled) -> str:
    """Prints where the answer is kept and who may follow it."""
    columns = ", ".join(
        f"{c.name} {c.type.value}{f'[{c.unit}]' if c.unit else ''}"
        for c in compiled.relation.columns
    )
    closed = closed_among(compiled.sources)
    lines = [
        f"kept in {settings.RESULTS_NAME}:results:rows:{name}",
        f'subscribe {{"view": "{name}"}}: {columns}',
        *(f"for staff alone: {source} is among what it reads" for source in closed),
    ]
    return _block(lines)


def _block(lines: Iterator[str] | list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
