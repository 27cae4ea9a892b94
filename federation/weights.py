"""Weights from words: `energy=1, latency=0.001` for the optimizer's metric."""

from __future__ import annotations

from dataclasses import replace

from aspen.errors import AspenError
from federation.cost import Weights


class BadWeights(AspenError, code="federation.bad_weights"):
    """Words that name no weight, or no number that can be one."""


def read_weights(text: str, given: Weights | None = None) -> Weights:
    """Read weights from `name=number` words; the others stay as given.

    Raises:
        BadWeights: an unknown name, or a number below nought.
    """
    found = {}
    for word in filter(None, (part.strip() for part in text.split(","))):
        name, _, number = (part.strip() for part in word.partition("="))
        if name not in Weights.words():
            raise BadWeights("no such weight", found=name, exists=Weights.words())
        try:
            value = float(number)
        except ValueError:
            value = -1.0
        if not 0.0 <= value < float("inf"):
            raise BadWeights(
                f"the weight of {name} is a number from 0 up", found=number, attempt="energy=1"
            )
        found[name] = value
    return replace(given or Weights(), **found)
