"""Linearise: the step of a recursion → branches, each a chain outwards from the recursive row.

UNION ALL is pulled outwards (σ, π and ⋈ distribute over it), so that each branch holds the
recursive view once, and branches without it join the base.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from aspen.algebra.plan import (
    AntiJoin,
    Distinct,
    Filter,
    Fixpoint,
    GroupBy,
    Join,
    Plan,
    Project,
    RecursiveRef,
    SetOperation,
    Ship,
    TopK,
    Union,
    Window,
    children,
)
from aspen.errors import AspenError
from aspen.views.inline import renamed

Stage = Filter | Project | Join
"""A node on the way from the recursive view outwards; its other children are not recursive."""

Chain = tuple[Stage, ...]


class NotLinear(AspenError):
    """A recursive step that reads its view in a way that cannot be maintained."""

    code = "aspen.views.not_linear"


@dataclass(frozen=True, slots=True)
class Branches:
    """A step taken apart.

    Args:
        chains: the recursive branches, stages in order from the recursive view outwards.
        flat: the branches that do not read the view.
    """

    chains: tuple[Chain, ...]
    flat: tuple[Plan, ...]

    def through(self, stage: Stage | None, onto: Callable[[Plan], Plan]) -> Branches:
        """Add one more node on top of every branch."""
        added = () if stage is None else (stage,)
        return Branches(
            tuple(chain + added for chain in self.chains), tuple(onto(f) for f in self.flat)
        )


def linearise(step: Plan, name: str) -> Branches:
    """Take a recursive step apart.

    Args:
        name: of the recursive view.

    Raises:
        NotLinear: the view occurs twice in a branch, below NOT EXISTS, or below an aggregate.
    """
    if not _mentions(step, name):
        return Branches((), (step,))
    match step:
        case RecursiveRef():
            return Branches(((),), ())
        case Filter() | Project():
            columns = step.child.columns
            return linearise(step.child, name).through(
                step, lambda flat: replace(step, child=renamed(flat, columns))
            )
        case Distinct() | Ship():
            # Rows of a recursion are a set already; a border moves them and changes nothing.
            return linearise(step.child, name).through(None, lambda flat: flat)
        case Union():
            parts = [linearise(child, name) for child in step.children]
            return Branches(
                tuple(chain for part in parts for chain in part.chains),
                tuple(renamed(flat, step.columns) for part in parts for flat in part.flat),
            )
        case Join():
            return _join(step, name)
        case AntiJoin() | GroupBy() | Window() | Fixpoint() | SetOperation() | TopK():
            raise NotLinear(
                f"{type(step).__name__} stands between the recursive view {name} and its step",
                found=type(step).__name__,
                exists=("joins", "WHERE", "MIN or MAX grouped by the view's other columns"),
                attempt="apply it to the finished view, in a query that reads it",
            )
        case _:  # pragma: no cover - a scan does not mention the view
            raise AssertionError(step)


def _join(step: Join, name: str) -> Branches:
    on_left = _mentions(step.left, name)
    if on_left and _mentions(step.right, name):
        raise NotLinear(
            f"the step reads {name} twice",
            found="a join of the view with itself",
            attempt="join the view with a base relation: one hop per step reaches as far",
        )
    if on_left:
        columns = step.left.columns
        return linearise(step.left, name).through(
            step, lambda flat: replace(step, left=renamed(flat, columns))
        )
    columns = step.right.columns
    return linearise(step.right, name).through(
        step, lambda flat: replace(step, right=renamed(flat, columns))
    )


def _mentions(plan: Plan, name: str) -> bool:
    if isinstance(plan, RecursiveRef):
        return plan.name == name
    return any(_mentions(child, name) for child in children(plan))


def recursive_side(stage: Join, name: str) -> str:
    """Say on which side of a join the recursive view stands: `left` or `right`."""
    return "left" if _mentions(stage.left, name) else "right"
