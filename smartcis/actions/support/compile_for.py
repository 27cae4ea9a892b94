"""Compile a query with the rights of whoever submits it."""

from __future__ import annotations

from aspen.model.catalog import Catalog
from aspen.streamsql import Compiled
from aspen.streamsql.compile import compile_asked, refuse_undelivered
from aspen.streamsql.statement import Statement
from smartcis.access.owner import Owner
from smartcis.access.queries import require_may_query
from smartcis.access.restrict import EVERYBODY, restrict
from smartcis.compiling.fair_turn import fair_turn
from smartcis.compiling.live_catalog import live_catalog
from smartcis.deliveries.outputs import KEPT, check_outputs


def compile_for(
    statement: Statement, owner: Owner, catalog: Catalog | None = None, *, once: bool = False
) -> Compiled:
    """Compiles a query with the rights of `owner`.

    Args:
        catalog: what it may name, if the caller knows.
        once: whether it is to be answered once; if not, it is to be maintained.

    Raises:
        AspenError: what is wrong with the text, and where.
        Refused: it reads what is closed to the owner, or visitors may not query here.
        TooComplex: it takes too much to plan.
    """
    require_may_query(owner)
    catalog = catalog or live_catalog()
    with fair_turn():
        compiled = compile_asked(statement, catalog, once=once)
        refuse_undelivered(compiled, KEPT)
        check_outputs(compiled, owner)
        # What goes out of the house is for everybody.
        return restrict(compiled, EVERYBODY if compiled.outputs else owner, catalog)
