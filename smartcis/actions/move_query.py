"""Move a query: let a piece of it run inside the sensor network, or all of it in the engine."""

from __future__ import annotations

from aspen.algebra.read import read_plan
from smartcis.access.owner import Owner
from smartcis.access.queries import query_of
from smartcis.errors import Invalid
from smartcis.models import MaintainedView, Placement
from smartcis.placements.decide import decide, estimates, inside_variants, weigh
from smartcis.placements.measured import measured_statistics
from smartcis.placements.store import Reason, Variant, want

ENGINE, NETWORK, AUTO = "engine", "network", "auto"
SITES = (ENGINE, NETWORK, AUTO, "pairwise", "semi", "bloom", "base")
SHOWN = 6


def move_query(query_id: str, where: str, owner: Owner) -> Placement:
    """Forces a query to a site, or leaves it to the optimizer again.

    Args:
        where: `engine`, `network`, a way of joining there (`pairwise`, `semi`, `bloom`, `base`), or
            `auto` for where it costs least.

    Raises:
        Refused: the owner is no staff.
        NotFound: no such query.
        Invalid: no such site, or nothing of the query can run in the network.
    """
    owner.require_staff("move a query")
    query = query_of(query_id)
    known = measured_statistics()
    view: MaintainedView = query.view
    if where == AUTO:
        Placement.objects.filter(view=view).update(forced=False, basis={})
        decide(view, known)
        return Placement.objects.get(view=view)
    basis = estimates(read_plan(view.plan_text), known)
    engine = weigh(view, Variant(), known)
    inside = [] if where == ENGINE else inside_variants(view, known)
    fitting = [one for one in inside if where == NETWORK or where in one.methods]
    if where != ENGINE and not fitting:
        methods = sorted({method for one in inside for method in one.methods})
        raise Invalid(
            f"this query cannot be moved to {where[:20]!r}",
            found=where[:20],
            exists=[ENGINE, *([NETWORK] if inside else []), *methods, AUTO],
            attempt="EXPLAIN says what the motes refuse, and why",
        )
    chosen = engine if where == ENGINE else fitting[0]
    costs = {"weighed": [one.as_dict() for one in (chosen, engine, *fitting[1:SHOWN])]}
    by = owner.account or "staff"
    return want(view, chosen.variant, Reason(f"{by} chose it", costs, basis, forced=True))
