"""Text → plan in one step, and whole sets of views in the order they build on each other."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import networkx as nx

from aspen.algebra.plan import Plan, SortKey, relations_of
from aspen.algebra.rewrite import flat, rewrite
from aspen.components import directed, strong_components
from aspen.effort import effort
from aspen.model.catalog import Catalog
from aspen.model.schema import Relation, SourceKind
from aspen.streamsql.bind import bind
from aspen.streamsql.errors import (
    NoDelivery,
    OneShot,
    SyntaxRefused,
    UnboundedRecursion,
    ViewCycle,
)
from aspen.streamsql.reads import names_read
from aspen.streamsql.statement import Output, Statement, not_a_query, only, parse


@dataclass(frozen=True, slots=True)
class Compiled:
    """One statement, ready to register.

    Args:
        name: the view's, None for a bare query.
        plan: rewritten.
        relation: what the result looks like to whoever reads it.
        sources: names of the relations and views it reads.
        order: how readers are to sort its rows, None where the text does not say.
        outputs: where its changes are to go besides.
        once: whether it is a one-shot query.
        unproved: its recursions that are not known to end, and so end in an error beyond few rows.
    """

    name: str | None
    plan: Plan
    relation: Relation
    sources: frozenset[str]
    order: Order | None = None
    outputs: tuple[Output, ...] = ()
    once: bool = False
    unproved: tuple[UnboundedRecursion, ...] = ()


@dataclass(frozen=True, slots=True)
class Order:
    """How a result is to be sorted by who shows it: rows of a maintained view have no order.

    Args:
        plan: the result with whatever else the keys need behind its columns.
        keys: the order, most important first.
        width: number of columns that are shown.
    """

    plan: Plan
    keys: tuple[SortKey, ...]
    width: int


def compile_query(text: str, catalog: Catalog, *, once: bool = False) -> Compiled:
    """Compile the one statement of a text.

    Args:
        once: whether the text must be a one-shot query, `ONCE SELECT …`; if not, it must be one
            that is maintained. Neither is ever taken for the other.

    Raises:
        OneShot: the text is of the other sort.
        AspenError: what else is wrong with it, and where.
    """
    return compile_asked(only(parse(text)), catalog, once=once)


def compile_asked(statement: Statement, catalog: Catalog, *, once: bool = False) -> Compiled:
    """Compiles a statement, as `compile_query`.

    Raises:
        NotAQuery: it changes something.
        OneShot: it is of the other sort.
        AspenError: what else is wrong with it, and where.
    """
    if not statement.asks and statement.relation is None:
        raise not_a_query(statement)
    compiled = compile_statement(statement, catalog)
    if compiled.once and not once:
        raise OneShot(
            "ONCE asks for one answer, and here queries are maintained",
            position=statement.at,
            found="ONCE",
            attempt="leave ONCE out to keep the answer current",
        )
    if once and not compiled.once:
        raise OneShot(
            "this query is to be maintained, and here queries are answered once",
            position=statement.at,
            found="SELECT",
            exists=("ONCE SELECT …",),
            attempt="begin it with ONCE",
        )
    return compiled


def refuse_undelivered(compiled: Compiled, delivered: Collection[str]) -> None:
    """Refuse a query whose output nothing takes where it is submitted.

    Args:
        delivered: kinds of OUTPUT TO that are.

    Raises:
        NoDelivery: one that is not among them.
    """
    for output in compiled.outputs:
        if output.kind not in delivered:
            raise NoDelivery(
                f"nothing delivers to {output.kind} here",
                position=output.at,
                found=output.kind,
                exists=sorted(delivered),
                attempt="leave OUTPUT TO out: every page that follows the query shows its rows",
            )


def compile_statement(statement: Statement, catalog: Catalog) -> Compiled:
    """Compile a query, whichever way it is asked."""
    with effort():
        bound = bind(statement, catalog)
        plan = rewrite(flat(bound.plan))
        relation = Relation(bound.name or "result", plan.columns, SourceKind.VIEW)
        order: Order | None = None
        if bound.order is not None:
            order = Order(rewrite(flat(bound.order.plan)), bound.order.keys, len(plan.columns))
    return Compiled(
        bound.name,
        plan,
        relation,
        relations_of(plan),
        order,
        bound.outputs,
        bound.once,
        bound.unproved,
    )


def compile_views(texts: Mapping[str, str], catalog: Catalog) -> list[Compiled]:
    """Compile views that may read each other.

    Args:
        texts: `CREATE VIEW` statements by where they come from (a file name, for messages).
        catalog: everything else they read.

    Returns:
        The views, each behind those it reads; otherwise in the order given.

    Raises:
        ViewCycle: views read each other in a cycle.
        AspenError: what is wrong with a text; its message begins with where it comes from.
    """
    views: dict[str, tuple[str, Statement]] = {}
    for origin, text in texts.items():
        for statement in _located(origin, text):
            if not statement.maintained or not statement.name:
                raise SyntaxRefused(
                    f"{origin}: a standing query is a view",
                    position=statement.at,
                    attempt="CREATE VIEW name AS …",
                )
            if statement.name in views:
                raise SyntaxRefused(
                    f"{origin}: view {statement.name!r} is already defined in"
                    f" {views[statement.name][0]}",
                    position=statement.at,
                    found=statement.name,
                )
            views[statement.name] = (origin, statement)
    reads = {}
    for name, (_, statement) in views.items():
        named = names_read(statement.query)
        reads[name] = [other for other in views if other in named]
    compiled: list[Compiled] = []
    for name in _ordered(reads, views):
        origin, statement = views[name]
        try:
            done = compile_statement(statement, catalog)
        except Exception as error:
            error.add_note(f"in {origin}")
            raise
        compiled.append(done)
        catalog = catalog.with_relation(done.relation)
    return compiled


def _located(origin: str, text: str) -> list[Statement]:
    try:
        return parse(text)
    except Exception as error:
        error.add_note(f"in {origin}")
        raise


def _ordered(
    reads: Mapping[str, list[str]], views: Mapping[str, tuple[str, Statement]]
) -> list[str]:
    parts = strong_components(reads)
    for part in parts:
        if len(part) > 1 or part[0] in reads[part[0]]:
            edges = nx.find_cycle(directed(reads).subgraph(part), part[0])
            cycle = " → ".join([edge[0] for edge in edges] + [edges[0][0]])
            raise ViewCycle(
                f"views read each other in a cycle: {cycle}",
                position=views[edges[0][0]][1].at,
                found=cycle,
                attempt="recursion stands inside one view: WITH RECURSIVE",
            )
    return [name for (name,) in parts]
