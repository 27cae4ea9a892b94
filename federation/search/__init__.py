"""The search for the cheapest federated join plan, bottom-up."""

from federation.search.bottom_up import bottom_up
from federation.search.federated import FederatedSpace
from federation.search.problem import Attribute, Equality, Member, Problem, Route, SearchSite, Theta
from federation.search.space import Answer, NoPlan

__all__ = [
    "Answer",
    "Attribute",
    "Equality",
    "FederatedSpace",
    "Member",
    "NoPlan",
    "Problem",
    "Route",
    "SearchSite",
    "Theta",
    "bottom_up",
]
