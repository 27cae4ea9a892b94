"""Statistics of the house: how many rows its relations and views have, and how fast they change."""

from __future__ import annotations

import math
from collections import Counter

from aspen.algebra.read import read_plan
from aspen.errors import AspenError
from aspen.model.schema import SourceKind
from aspen.views.choose import UNKNOWN_ROWS, estimate
from federation.statistics import Statistics
from smartcis.catalog import CATALOG
from smartcis.models import MaintainedView, Sensor
from smartcis.models.state import source_models
from smartcis.policies import CLOSED

FEW = 64


def roughly(count: float) -> float:
    """Returns how many there are of what is closed: everybody reads what plans are to cost."""
    return float(max(FEW, 4 ** math.ceil(math.log(max(count, 1.0), 4))))


def house_statistics() -> Statistics:
    """Counts the base relations in the database, and estimates the standing views over them.

    A view changes as fast as the fastest of what it reads: an overestimate, since most readings
    change no row of most views.
    """
    declared = Statistics.of(CATALOG)
    counts: dict[str, float] = {"clock": 1.0}
    for model in source_models():
        objects = float(model._base_manager.count())  # noqa: SLF001  # the manager Django itself writes through
        for name in model.relations:
            counts[name] = roughly(objects) if name in CLOSED else objects
    sensors = Counter(Sensor.objects.values_list("kind", flat=True))
    for relation in CATALOG:
        if relation.kind is SourceKind.STREAM:
            counts[relation.name] = float(sensors[relation.device or ""])
    rates = dict(declared.rates_hz)
    known = Statistics(rates, declared.shares, counts, devices=declared.devices)
    standing = MaintainedView.objects.filter(standing=True).order_by("order")
    for name, text, sources in standing.values_list("name", "plan_text", "sources"):
        try:
            counts[name] = estimate(read_plan(text), known)
        except AspenError:
            counts[name] = UNKNOWN_ROWS  # a text of an older version, until the next deployment
        rates[name] = max((rates.get(source, 0.0) for source in sources), default=0.0)
    return known
