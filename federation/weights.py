"""Weights from words: `energy=1, latency=0.001` for the optimizer's metric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from aspen.errors import AspenError
from federation.cost import Weights

NAMES: Mapping[str, str] = {
    "bytes": "per_byte_per_s",
    "energy": "per_mj_per_s",
    "latency": "per_ms",
    "cpu": "per_cpu_ms_per_s",
}
"""What a word weighs: a byte per second on the air, a millijoule per second of the motes, a
millisecond of waiting, a millisecond of processor time per second."""


class BadWeights(AspenError):
    """Words that name no weight, or no number that can be one."""

    code = "federation.bad_weights"


def read_weights(text: str, given: Weights | None = None) -> Weights:
    """Read weights from `name=number` words; the others stay as given.

    Raises:
        BadWeights: an unknown name, or a number below nought.
    """
    found = {}
    for word in filter(None, (part.strip() for part in text.split(","))):
        name, _, number = (part.strip() for part in word.partition("="))
        if name not in NAMES:
            raise BadWeights("no such weight", found=name, exists=tuple(NAMES))
        try:
            value = float(number)
        except ValueError:
            value = -1.0
        if not 0.0 <= value < float("inf"):
            raise BadWeights(
                f"the weight of {name} is a number from 0 up", found=number, attempt="energy=1"
            )
        found[NAMES[name]] = value
    return replace(given or Weights(), **found)
