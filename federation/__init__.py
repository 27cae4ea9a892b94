"""The federation: which site runs which part of a plan, at what cost, and why."""

from federation.covers import Cover, covers
from federation.deploy import Deployment, deploy
from federation.place import FederatedPlan, options, place, strip_ships
from federation.sites import SensorNetwork
from federation.split import Fragments, NetworkFragment, split
from federation.statistics import Statistics

__all__ = [
    "Cover",
    "Deployment",
    "FederatedPlan",
    "Fragments",
    "NetworkFragment",
    "SensorNetwork",
    "Statistics",
    "covers",
    "deploy",
    "options",
    "place",
    "split",
    "strip_ships",
]
