"""Compile a query with the rights of whoever submits it."""

from __future__ import annotations

from collections.abc import Iterable

from aspen.model.catalog import Catalog
from aspen.streamsql import Compiled
from aspen.streamsql.compile import compile_asked, refuse_undelivered
from aspen.streamsql.statement import Statement
from smartcis.access.owner import Owner
from smartcis.compiling.live_catalog import live_catalog, reads_private
from smartcis.deliveries.outputs import KEPT, check_outputs
from smartcis.errors import Refused


def compile_for(
    statement: Statement, owner: Owner, catalog: Catalog | None = None, *, once: bool = False
) -> Compiled:
    """Compiles a query with the rights of `owner`.

    Args:
        catalog: what it may name, if the caller knows.
        once: whether it is to be answered once; if not, it is to be maintained.

    Raises:
        AspenError: what is wrong with the text, and where.
        Refused: it reads what tells of other visitors.
    """
    catalog = catalog or live_catalog()
    compiled = compile_asked(statement, catalog, once=once)
    refuse_undelivered(compiled, KEPT)
    refuse_private(compiled.sources, catalog, owner)
    check_outputs(compiled, owner, catalog)
    return compiled


def refuse_private(sources: Iterable[str], catalog: Catalog, owner: Owner) -> None:
    """Refuses to let anybody but staff query what belongs to one visitor each.

    Raises:
        Refused: a source does.
    """
    private = reads_private(sources, catalog)
    if private and not owner.staff:
        names = {relation.name for relation in catalog}
        raise Refused(
            f"{private[0]} tells of other visitors; only staff may query it",
            found=private[0],
            exists=sorted(names.difference(reads_private(names, catalog))),
            attempt="read visitor_position, or follow nearest_machine and route_step themselves: "
            "they show you your own rows",
        )
