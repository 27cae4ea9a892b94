"""The federation: which site runs which part of a plan, at what cost, and why."""

from federation.covers import Cover, covers
from federation.deploy import Deployment, deploy
from federation.placement import FederatedPlan, assign_sites, options, strip_ships
from federation.sites import SensorSite
from federation.split import Fragments, NetworkFragment, split
from federation.statistics import Statistics

__all__ = [
    "Cover",
    "Deployment",
    "FederatedPlan",
    "Fragments",
    "NetworkFragment",
    "SensorSite",
    "Statistics",
    "assign_sites",
    "covers",
    "deploy",
    "options",
    "split",
    "strip_ships",
]
