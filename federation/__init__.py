"""The federation: which site runs which part of a plan, at what cost, and why."""

from federation.deploy import Deployment, deploy
from federation.place import FederatedPlan, place, strip_ships
from federation.split import Fragments, split
from federation.statistics import Statistics

__all__ = [
    "Deployment",
    "FederatedPlan",
    "Fragments",
    "Statistics",
    "deploy",
    "place",
    "split",
    "strip_ships",
]
