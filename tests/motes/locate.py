"""Locate: where a tag is, from how strongly several receivers hear it.

    receiver   −48 dBm  ●━━━╮            the stronger, the nearer: distance d̂ from path loss,
    receiver   −63 dBm  ●━━━┷━ tag       weight d̂⁻² per receiver, and the mean of their positions

Law: the position lies among the receivers that heard it; one receiver gives its own position.
Source: weighted centroid, Blumenthal et al., Weighted Centroid Localization in Zigbee-based Sensor
Networks, WISP 2007.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sensors_sim.errors import BadWorld
from sensors_sim.radio import AT_ONE_METRE_DBM, PATH_LOSS_EXPONENT

DEGREE = 2.0  # how much more a nearer receiver counts


@dataclass(frozen=True, slots=True)
class Ear:
    """A receiver that heard a tag."""

    x_m: float
    y_m: float
    rssi_dbm: float


def distance_m(rssi_dbm: float) -> float:
    """Returns the distance at which a tag is usually heard this strongly, at least a metre."""
    loss_db = AT_ONE_METRE_DBM - rssi_dbm
    return float(max(1.0, 10.0 ** (loss_db / (10.0 * PATH_LOSS_EXPONENT))))


def locate(heard: Iterable[Ear]) -> tuple[float, float]:
    """Returns x and y in metres of a tag, on the level of those that heard it.

    Raises:
        BadWorld: nobody heard it.
    """
    ears = list(heard)
    if not ears:
        raise BadWorld("a tag that nobody hears is nowhere")
    weights = [distance_m(ear.rssi_dbm) ** -DEGREE for ear in ears]
    total = sum(weights)
    return (
        sum(w * ear.x_m for w, ear in zip(weights, ears, strict=True)) / total,
        sum(w * ear.y_m for w, ear in zip(weights, ears, strict=True)) / total,
    )
