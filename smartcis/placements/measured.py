"""Measured: what the running system knows of its data, for the optimizer.

views over the log ── histograms, rates ──┐
counts inside the network ── shares ──────┼──► Statistics
the motes' own tree and links ────────────┘
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import structlog
from django.db.models import F, FloatField, Sum
from redis.exceptions import RedisError

from aspen.model.schema import Row
from aspen.motes.kinds import DEVICE_KINDS
from federation.histogram import Histogram
from federation.statistics import Statistics
from smartcis import composition
from smartcis.compiling.statistics import house_statistics
from smartcis.models import NetworkPiece, Sensor
from smartcis.placements.look import seen_network

WIDTHS = {
    "light_histogram": ("light_reading.lux", 20.0),
    "temperature_histogram": ("temperature_reading.celsius", 0.5),
    "seat_histogram": ("seat_reading.weight_kg", 5.0),
    "energy_histogram": ("energy_reading.watts", 10.0),
}
"""Views of `smartcis/queries`, the column each counts, and how wide its slices are."""
RATE = "stream_rate"
RATE_RANGE_S = 60.0

logger = structlog.get_logger(__name__)


def measured_statistics() -> Statistics:
    """Returns the house's statistics with all that was measured lately."""
    house = house_statistics()
    histograms, rates = _of_engine()
    return replace(
        house,
        rates_hz={**house.rates_hz, **_by_periods(), **rates},
        shares={**house.shares, **_of_pieces()},
        histograms=histograms,
        network=seen_network(),
    )


def _of_engine() -> tuple[dict[str, Histogram], dict[str, float]]:
    try:
        found = composition.results().snapshots([*WIDTHS, RATE])
    except RedisError as fault:
        logger.warning("nothing measured by the engine", reason=str(fault))
        return {}, {}
    histograms = {}
    for view, (column, width) in WIDTHS.items():
        if view in found and found[view].rows:
            histograms[column] = histogram_of(found[view].rows, width)
    rates = {}
    if RATE in found:
        for stream, readings in found[RATE].rows:
            rates[str(stream)] = float(str(readings)) / RATE_RANGE_S
    return histograms, rates


def histogram_of(rows: Iterable[Row], width: float) -> Histogram:
    """Rows (middle of a slice, how many) as a histogram; slices that lack a row are empty."""
    counted = sorted((float(str(middle)), float(str(many))) for middle, many in rows)
    edges = [counted[0][0] - width / 2]
    counts: list[float] = []
    for middle, many in counted:
        low = middle - width / 2
        if low > edges[-1] + width / 4:  # a gap; slices themselves are whole widths apart
            edges.append(low)
            counts.append(0.0)
        edges.append(middle + width / 2)
        counts.append(many)
    return Histogram(tuple(edges), tuple(counts))


def _by_periods() -> dict[str, float]:
    """Returns the rates that follow from the sensors' periods, for streams that are asleep."""
    summed = Sensor.objects.filter(enabled=True, period_s__gt=0).values("kind")
    found = summed.annotate(hz=Sum(1.0 / F("period_s"), output_field=FloatField()))
    streams = {kind.key: kind.stream for kind in DEVICE_KINDS}
    return {streams[kind]: hz for kind, hz in found.values_list("kind", "hz") if kind in streams}


def _of_pieces() -> Mapping[str, float]:
    found: dict[str, float] = {}
    for measured in NetworkPiece.objects.filter(live=True).values_list("measured", flat=True):
        found |= measured
    return found
