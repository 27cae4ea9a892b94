"""The house's optimizer: the metric and the limits a deployment has set, and what was measured."""

from __future__ import annotations

from django.conf import settings

from aspen.motes.protocol import ANSWER_SHARE
from federation.cost import Cost, Weights, read_weights
from federation.explain import Assumed
from federation.sites import SensorSite
from smartcis.models import NetworkPiece
from smartcis.placements.measured import measured_statistics


def house_weights(text: str = "") -> Weights:
    """Returns the metric: the deployment's, but for what one query asks for.

    Args:
        text: `energy=1, latency=0.001`.

    Raises:
        BadWeights: a weight nobody knows, or no number.
    """
    return read_weights(text, read_weights(settings.PLACEMENT_WEIGHTS))


def house_network(joins: int | None = None) -> SensorSite:
    """Returns what the motes may be asked for.

    Args:
        joins: the most joins in one fragment; the deployment's limit, if None; 0 for no limit.
    """
    return SensorSite(joins=(settings.NETWORK_JOINS if joins is None else joins) or None)


def assumed(weights: str = "", joins: int | None = None) -> Assumed:
    """Returns what an explanation assumes: all that is known of the running house.

    Raises:
        BadWeights: as `house_weights`.
    """
    return Assumed(
        measured_statistics(), house_weights(weights), house_network(joins), measured_costs()
    )


def measured_costs() -> dict[str, Cost]:
    """Returns what the pieces that run now take, by name."""
    found = NetworkPiece.objects.filter(live=True, mj_per_s__gt=0)
    columns = found.values_list("name", "bytes_per_s", "mj_per_s", "period_s")
    return {
        name: Cost(bytes_per_s, mj_per_s, ANSWER_SHARE * 1000 * period_s)
        for name, bytes_per_s, mj_per_s, period_s in columns
    }
