"""The search for the cheapest federated join plan: by rules, bottom-up and top-down."""

from federation.search.bottom_up import bottom_up
from federation.search.by_rules import RuleSearch
from federation.search.federated import FederatedSpace
from federation.search.problem import Attribute, Equality, Member, Problem, Route, Site, Theta
from federation.search.space import Answer, NoPlan
from federation.search.top_down import top_down

__all__ = [
    "Answer",
    "Attribute",
    "Equality",
    "FederatedSpace",
    "Member",
    "NoPlan",
    "Problem",
    "Route",
    "RuleSearch",
    "Site",
    "Theta",
    "bottom_up",
    "top_down",
]
