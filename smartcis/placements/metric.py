"""Metric: what moving queries is meant to save, as the deployment weighs it."""

from __future__ import annotations

from dataclasses import replace

from django.conf import settings

from aspen.errors import AspenError
from federation.cost import Weights

FIELDS = {"bytes": "per_byte_per_s", "energy": "per_mj_per_s", "latency": "per_ms"}


class BadWeights(AspenError):
    """A metric that cannot be read."""

    code = "smartcis.placements.bad_weights"


def house_weights() -> Weights:
    """Give the house's metric: the optimizer's own, but for what the setting names.

    Raises:
        BadWeights: the setting is no list of `bytes=…`, `energy=…`, `latency=…`.
    """
    return read_weights(settings.PLACEMENT_WEIGHTS)


def read_weights(text: str) -> Weights:
    """Read a metric: weights per B/s, mJ/s and ms, e.g. `energy=1,latency=0.0001`.

    Raises:
        BadWeights: it is none.
    """
    weights = Weights()
    for part in filter(None, (one.strip() for one in text.split(","))):
        name, _, number = part.partition("=")
        field = FIELDS.get(name.strip())
        try:
            value = float(number)
        except ValueError:
            value = -1.0
        if field is None or value < 0.0:
            raise BadWeights(
                "not a weight", found=part[:40], exists=[f"{one}=0.5" for one in FIELDS]
            )
        weights = replace(weights, **{field: value})
    return weights
