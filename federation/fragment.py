"""Fragment: what the motes run for a query, and the relation its answers are kept in.

replaces    Project(Join(Window s, Window l))       the engine's subplan, under the query's names
plan        Project(Join(Scan a0, Scan a1))         the same over an epoch's samples
relation    net_2f…(mid, lux)                       its rows in the log, after every answer
"""

from __future__ import annotations

from dataclasses import dataclass

from aspen.algebra.plan import Plan
from aspen.model.schema import Relation


@dataclass(frozen=True, slots=True)
class NetworkFragment:
    """A piece of a query that runs inside the sensor network, epoch by epoch.

    Args:
        name: of the relation; equal pieces of several queries have one name.
        relation: a table with the columns of the answer; its rows are distinct.
        plan: what the motes run, over device streams, without windows.
        replaces: the engine's subplan it stands for, column by column.
        method: pairwise, semi, bloom or base; base also for one input.
        keys: distinct join values expected.
        shares: part of each input's rows expected to pass its own selection, 0 to 1.
        joined_share: part of the partners expected to join once their rows have passed.

    Law: when every device samples at the epochs and nothing is lost, the relation's rows after an
    answer are those of `replaces` over the samples of its epoch.
    """

    name: str
    relation: Relation
    plan: Plan
    replaces: Plan
    period_s: float
    method: str
    keys: int = 32
    shares: tuple[float, ...] = ()
    joined_share: float = 1.0
