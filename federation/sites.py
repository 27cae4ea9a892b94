"""Sites: what the sensor network can run. It is asked node by node; the engine runs everything."""

from __future__ import annotations

from dataclasses import dataclass

from aspen.algebra.expr import Call, Case, Expr, Op, conjunction, conjuncts, parts
from aspen.algebra.plan import Filter, Plan, Project
from aspen.model.schema import Relation
from aspen.motes.kinds import DEVICE_KINDS

MOTES = frozenset(kind.key for kind in DEVICE_KINDS if kind.can_be_asked)
"""Kinds of device that a mote can sample whenever it is asked to."""

ENGINE = "engine"
"""How Ship and EXPLAIN call the stream engine."""

SOFT = frozenset(kind.key for kind in DEVICE_KINDS if not kind.on_air)
"""Kinds that are programs on wired machines."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """The network's yes to a node.

    Args:
        node: what the motes would run.
        remainder: predicate they leave to whoever reads it, None when they do everything.
    """

    node: Plan
    remainder: Expr | None = None


@dataclass(frozen=True, slots=True)
class SensorSite:
    """The motes and their gateway.

    Without epochs they send what they measure, and select on comparisons and plain arithmetic;
    conjuncts with more in them are left as a remainder. In epochs they also join and aggregate.

    Args:
        name: how Ship calls it.
        drops_columns: whether motes may leave columns out of the rows they send unasked; off as
            long as the log's rows serve readers that nobody knows yet.
        runs: whether it takes fragments that run in epochs.
        joins: joins one fragment may hold; None for any number, 1 for the limit of the seeds.
        devices: kinds of sensor that can be sampled at an epoch.
        unknown: columns that no answer carries.
        soft: kinds of sensor that are programs on wired machines: no radio carries their rows.
    """

    name: str = "sensors"
    drops_columns: bool = False
    runs: bool = True
    joins: int | None = None
    devices: frozenset[str] = MOTES
    unknown: frozenset[str] = frozenset({"at_s"})
    soft: frozenset[str] = SOFT

    def accept(self, node: Plan) -> Accepted | None:
        """Accept simple selections and, where allowed, bare projections of device streams.

        Returns:
            None for no: the node runs elsewhere, and so does everything above it.
        """
        match node:
            case Filter(child, predicate):
                own = conjunction(part for part in conjuncts(predicate) if simple(part))
                rest = conjunction(part for part in conjuncts(predicate) if not simple(part))
                return None if own is None else Accepted(Filter(child, own), rest)
            case Project() if self.drops_columns and _drops_only(node):
                return Accepted(node)
            case _:
                return None

    def refusal(self, node: Plan) -> str:
        """Say why a node cannot run on motes that send what they measure."""
        match node:
            case Filter():
                return "motes compute comparisons and plain arithmetic, no functions"
            case Project():
                return "the log keeps whole rows: other readers and warm windows need them"
            case _:
                return f"motes hold no {type(node).__name__}"

    def sampling_refusal(self, relation: Relation) -> str:
        """Say why a stream cannot be sampled at epochs; empty if it can."""
        if not self.runs:
            return "no fragments are taken"
        if relation.device not in self.devices:
            return f"no mote samples {relation.device or relation.name} when it is told to"
        return "" if relation.key else f"{relation.name} has no key that tells its devices apart"


def simple(expr: Expr) -> bool:
    """Say whether motes compute an expression: comparisons, logic, plain arithmetic."""
    if isinstance(expr, Call | Case) or (isinstance(expr, Op) and expr.symbol in ("/", "%")):
        return False
    return all(simple(part) for part in parts(expr))


def _drops_only(node: Project) -> bool:
    return all(not parts(expr) for _, expr in node.outputs)
