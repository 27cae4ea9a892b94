"""Restrict: a compiled query becomes one over the rows that its reader may see.

    SELECT w.cost_mm FROM walking_cost w          as it was asked
    Scan walking_cost  →  σ own (walking_cost)    for who is no staff, asked once

Law: no row that the table of policies keeps from a reader reaches any operator of his query.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from aspen.algebra.inline import inline
from aspen.algebra.plan import relations_of
from aspen.model.catalog import Catalog
from aspen.streamsql import Compiled, compile_query
from smartcis.access.grants import sessions_of
from smartcis.access.owner import Owner
from smartcis.errors import Refused
from smartcis.models.closed import closed_among, open_views, why_closed
from smartcis.policies import POLICIES

EVERYBODY = Owner()
"""Whose rights hold for what others will read."""


def restrict(compiled: Compiled, reader: Owner, catalog: Catalog) -> Compiled:
    """Returns a query over what `reader` may see.

    Staff's questions see everything, and their views what is closed: these stay with the staff.

    Raises:
        Refused: it reads what is closed to the reader, and no rows of it can be given.
    """
    if reader.staff and compiled.once:
        return compiled
    closed = closed_among(compiled.sources)
    limited = {name for name in compiled.sources if name in POLICIES and POLICIES[name].rows}
    if reader.staff:
        limited.difference_update(closed)
    else:
        # Whose walks are whose changes while a view is kept; an answer has one moment.
        refused = [name for name in closed if not (compiled.once and name in limited)]
        if refused:
            raise _refusal(refused[0], catalog)
    if not limited:
        return compiled
    known = {"own": _texts(sessions_of(reader.browser)), "open": _texts(open_views())}
    rows = {name: POLICIES[name].rows.format(**known) for name in limited}
    seen = {
        name: compile_query(f"SELECT r.* FROM {name} r WHERE {which}", catalog).plan  # noqa: S608  # of the table
        for name, which in rows.items()
    }
    plan, order = inline(compiled.plan, seen), compiled.order
    if order is not None:
        order = replace(order, plan=inline(order.plan, seen))
    return replace(compiled, plan=plan, order=order, sources=relations_of(plan))


def _texts(values: Iterable[str]) -> str:
    """Returns texts as StreamSQL lists them; none is a list of the empty text, which nothing is."""
    escaped = [value.replace("'", "''") for value in sorted(values)]
    return ", ".join(f"'{value}'" for value in escaped or [""])


def _refusal(name: str, catalog: Catalog) -> Refused:
    sentence, instead = why_closed(name)
    names = {relation.name for relation in catalog}
    open_names = sorted(names.difference(closed_among(names)))
    return Refused(sentence, found=name, exists=open_names, attempt=instead)
