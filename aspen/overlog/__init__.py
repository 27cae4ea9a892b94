"""Overlog: Datalog rules → the same plans StreamSQL gives, one view per head predicate."""

from aspen.overlog.compile import compile_goal, compile_program
from aspen.overlog.parse import parse
