"""Metric: what the optimizer minimises in this house."""

from __future__ import annotations

from django.conf import settings

from federation.cost import Weights
from federation.weights import read_weights


def house_weights(text: str = "") -> Weights:
    """Returns the metric: the deployment's, but for what one query asks for.

    Args:
        text: `energy=1, latency=0.001`.

    Raises:
        BadWeights: a weight nobody knows, or no number.
    """
    return read_weights(text, read_weights(settings.PLACEMENT_WEIGHTS))
