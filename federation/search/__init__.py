"""The search for the cheapest join plan of a region, bottom-up."""

from federation.search.bottom_up import bottom_up
from federation.search.joins import JoinSpace
from federation.search.problem import Access, JoinProblem, Member, Theta
from federation.search.space import NoPlan
