"""Sites: who can run what. A site is asked node by node and answers for itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from aspen.algebra.expr import Call, Case, Expr, Op, conjunction, conjuncts, parts
from aspen.algebra.plan import Filter, Plan, Project, Scan


@dataclass(frozen=True, slots=True)
class Accepted:
    """A site's yes to a node.

    Args:
        node: what the site would run.
        remainder: predicate the site leaves to whoever reads it, None when it does everything.
    """

    node: Plan
    remainder: Expr | None = None


class Site(Protocol):
    """A place where parts of a plan may run."""

    @property
    def name(self) -> str:
        """How EXPLAIN and Ship call it."""
        ...

    def accept(self, node: Plan) -> Accepted | None:
        """Say whether the site can run a node whose inputs it already runs.

        Returns:
            None for no: the node runs elsewhere, and so does everything above it.
        """
        ...

    def refusal(self, node: Plan) -> str:
        """Say in one clause why `accept` gave None."""
        ...


@dataclass(frozen=True, slots=True)
class SensorNetwork:
    """The motes and their gateway.

    They sample, and select on comparisons and plain arithmetic; conjuncts with more in them are
    left as a remainder. They hold no windows, do not join
    (so far), and send whole rows.

    Args:
        name: how Ship calls it.
        drops_columns: whether motes may leave columns out; off as long as the log's rows serve
            readers that nobody knows yet.
    """

    name: str = "sensors"
    drops_columns: bool = False

    def accept(self, node: Plan) -> Accepted | None:
        """Accept device scans, simple selections and, where allowed, bare projections."""
        match node:
            case Scan():
                return Accepted(node) if node.stream else None
            case Filter(child, predicate):
                simple = conjunction(part for part in conjuncts(predicate) if _simple(part))
                rest = conjunction(part for part in conjuncts(predicate) if not _simple(part))
                return None if simple is None else Accepted(Filter(child, simple), rest)
            case Project() if self.drops_columns and _drops_only(node):
                return Accepted(node)
            case _:
                return None

    def refusal(self, node: Plan) -> str:
        """Say why a node cannot run on motes."""
        match node:
            case Filter():
                return "motes compute comparisons and plain arithmetic, no functions"
            case Project():
                return "the log keeps whole rows: other readers and warm windows need them"
            case Scan():
                return "no device measures it"
            case _:
                return f"motes hold no {type(node).__name__}"


@dataclass(frozen=True, slots=True)
class Engine:
    """The stream engine on Spark: it runs everything."""

    name: str = "engine"

    def accept(self, node: Plan) -> Accepted | None:
        """Accept any node."""
        return Accepted(node)

    def refusal(self, _node: Plan) -> str:
        """Give nothing: the engine refuses nothing."""
        return ""


def _simple(expr: Expr) -> bool:
    if isinstance(expr, Call | Case) or (isinstance(expr, Op) and expr.symbol in ("/", "%")):
        return False
    return all(_simple(part) for part in parts(expr))


def _drops_only(node: Project) -> bool:
    return all(not parts(expr) for _, expr in node.outputs)
