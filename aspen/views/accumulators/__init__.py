"""Accumulators: one aggregate's state over one group, under insertion and deletion."""

from aspen.views.accumulators.base import Accumulator, weighed
from aspen.views.accumulators.make import accumulator
