"""Strategies: the ways to keep a view under deletions, by name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Protocol

from aspen.provenance.bdd import Bdd
from tests.experiments.network.absorption import AbsorptionPeer
from tests.experiments.network.asking import AskingPeer
from tests.experiments.network.exchange import Exchange
from tests.experiments.network.partition import Owner
from tests.experiments.network.paths import ALL, CHEAPEST, CHEAPEST_BY_HOPS, SHORTEST, PathPeer
from tests.experiments.network.peer import Peer
from tests.experiments.network.relative import RelativePeer
from tests.experiments.network.sets import DRedPeer, RecomputePeer

EAGER_INTERVAL_S = 1.0
"""The seeds flush once a second."""


class Maker(Protocol):
    """Makes one node of a strategy."""

    def __call__(self, me: int, nodes: int, owner: Owner, exchange: Exchange, manager: Bdd) -> Peer:
        """Make it."""
        ...


STRATEGIES: Mapping[str, Maker] = {
    "absorption-lazy": AskingPeer,
    "absorption-push": partial(AbsorptionPeer, interval_s=None),
    "absorption-eager": partial(AbsorptionPeer, interval_s=EAGER_INTERVAL_S),
    "absorption-every": partial(AbsorptionPeer, interval_s=0.0),
    "relative": RelativePeer,
    "dred": DRedPeer,
    "recompute": RecomputePeer,
}

PATH_STRATEGIES: Mapping[str, Maker] = {
    "paths-multi": partial(PathPeer, selections=(CHEAPEST, SHORTEST)),
    "paths-single": partial(PathPeer, selections=(CHEAPEST_BY_HOPS,)),
    "paths-cheapest": partial(PathPeer, selections=(CHEAPEST,)),
    "paths-shortest": partial(PathPeer, selections=(SHORTEST,)),
    "paths-all": partial(PathPeer, selections=(ALL,)),
}
"""The ways to keep `path` for its aggregates: both at once; one, the other in the groups; one
alone, for its own answer only; without selection."""
