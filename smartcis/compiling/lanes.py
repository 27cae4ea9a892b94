"""Explain lanes: where a query's view would live in an engine of several lanes, and why."""

from __future__ import annotations

from django.conf import settings

from aspen.algebra.crossing import explain_place
from aspen.algebra.inline import inline
from aspen.algebra.plan import Plan, relations_of
from aspen.algebra.read import read_plan
from aspen.model.catalog import Catalog
from aspen.runtime.own_assignment import explain_own, reads_own
from aspen.runtime.sharing import choose_sharing
from smartcis.models import MaintainedView


def lanes_text(plan: Plan, catalog: Catalog) -> str:
    """Returns in which lane, or in parts in which lanes, a view is kept."""
    lanes = settings.ENGINE_LANES
    closed = over_base_relations(plan)
    if lanes > 1 and reads_own(closed):
        return explain_own(closed, lanes)
    if lanes > 1 and choose_sharing("auto", plan).lifted is not None:
        return f"in one of {lanes} lanes, by its parameters, because its template is in all of them"
    relations = {relation.name: relation for relation in catalog}
    return explain_place(closed, relations, lanes)


def over_base_relations(plan: Plan) -> Plan:
    """Inlines the views that a plan reads, and those that they read."""
    readable = MaintainedView.objects.filter(MaintainedView.READABLE)
    texts = dict(readable.values_list("name", "plan_text"))
    known: dict[str, Plan] = {}

    def closed(one: Plan) -> Plan:
        for name in sorted(relations_of(one) & texts.keys()):
            if name not in known:
                known[name] = closed(read_plan(texts[name]))
        return inline(one, known)

    return closed(plan)
