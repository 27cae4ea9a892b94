"""Budgets: what a query may do and hold, and whom an operator works for.

    node      budgets of who uses it           may take in an epoch
    σ5(t)     ann 1,000,000                    1,000,000
    t ⋈ t     ann 1,000,000  bob 1,000,000     1,010,000    the largest, and a little for each other
    t         the house, ann 1,000,000         any number

Law:    what an operator takes is taken from the owners it works for, in equal parts; whatever
        one of them has used up, the others' queries get what they would get alone.
Source: own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from aspen.views.accounts import AT_ONCE_OF_ONE, FILLS_S, OwnerAccount, held_bytes
from aspen.views.work import ANY, AT_ONCE, UNBOUNDED, ShareExceeded, StateExceeded

if TYPE_CHECKING:
    from aspen.views.node import Node

LITTLE = 512
"""An operator that holds less than such a part of what its query may hold is not asked about."""


class Budget:
    """What one query may do in an epoch, and hold; UNBOUNDED for any.

    Args:
        view: its name.
        most_bytes: what its operators may hold.
        account: its owner's, None where it has none.
        passing: a question's, which asks operators and does not keep them.

    `nodes` has the operators that work for it.
    """

    __slots__ = ("account", "bytes", "nodes", "passing", "steps", "view")

    def __init__(
        self,
        view: str = "",
        steps: int = UNBOUNDED,
        most_bytes: int = UNBOUNDED,
        account: OwnerAccount | None = None,
        *,
        passing: bool = False,
    ) -> None:
        self.view = view
        self.steps = steps
        self.bytes = most_bytes
        self.account = account
        self.passing = passing
        self.nodes: dict[Node, None] = {}
        if account is not None and not passing:
            account.add(self)

    def end(self) -> None:
        """Let all operators go."""
        for node in self.nodes:
            node.payers.remove(self)
        self.nodes.clear()
        if self.account is not None:
            self.account.budgets.pop(self, None)

    def check_held(self) -> None:
        """Refuse more than it may hold.

        Raises:
            StateExceeded: it does, or all queries of its owner together do.
        """
        if not self.bytes or not self.nodes:
            return
        what = max(self.nodes, key=lambda node: node.weighed_rows).what
        all_of_owner = AT_ONCE_OF_ONE * self.bytes
        if held_bytes(self.nodes) > self.bytes:
            whose, most = "the operators of this query", self.bytes
        elif self.account is not None and self.account.held_bytes() > all_of_owner:
            whose, most = "your queries together", all_of_owner
        else:
            return
        raise StateExceeded(
            f"{whose} hold more than {most >> 20:,} MiB, and in this one {what} holds most",
            found=what,
            exists=(f"up to {self.bytes >> 20:,} MiB a query, {all_of_owner >> 20:,} an owner",),
            attempt="select before you join or group, begin from fewer rows, or end other queries",
        )


class Payers:
    """The budgets of the queries an operator works for.

    `most` is what it may take in an epoch: what the largest may, and AT_ONCE for each other one.
    """

    __slots__ = ("_sizes", "budgets", "most")

    def __init__(self) -> None:
        self.budgets: dict[Budget, None] = {}
        self.most = UNBOUNDED
        self._sizes: dict[int, int] = {}

    def add(self, budget: Budget) -> None:
        """Let the operator work for one more."""
        self.budgets[budget] = None
        self._count(budget.steps, 1)

    def remove(self, budget: Budget) -> None:
        """Let it work for one less."""
        del self.budgets[budget]
        self._count(budget.steps, -1)

    def ask(self, now_s: float, passed_s: float, steps: int, what: str) -> None:
        """See whether the owners have steps left.

        Args:
            now_s: log time.
            passed_s: the log time that the epoch takes in.
            steps: taken in this epoch.
            what: the operator.

        Raises:
            ShareExceeded: they have not.
        """
        accounts = {budget.account for budget in self.budgets}
        left = [
            ANY if one is None else max(AT_ONCE, int(one.left(now_s, passed_s))) for one in accounts
        ]
        if steps > _pooled(Counter(left)):
            most = AT_ONCE_OF_ONE * max(budget.steps for budget in self.budgets)
            raise ShareExceeded(
                f"{what} takes more than your queries together have left of {most:,} steps in"
                f" {FILLS_S:g} s",
                found=what,
                exists=(f"up to {most:,} steps for all queries of one owner",),
                attempt="end some of your queries, or let them begin from fewer rows",
            )

    def charge(self, steps: int) -> None:
        """Take what the operator did from the owners."""
        part = steps // max(1, len(self.budgets))
        if part and self.most:
            for budget in self.budgets:
                if budget.account is not None:
                    budget.account.kept.take(part)

    def large(self, held_bytes: int) -> list[Budget]:
        """Returns the budgets for which a part of so many bytes is not little."""
        part = held_bytes // max(1, len(self.budgets))
        return [budget for budget in self.budgets if 0 < budget.bytes < part * LITTLE]

    def _count(self, steps: int, by: int) -> None:
        sizes = self._sizes
        sizes[steps] = sizes.get(steps, 0) + by
        if not sizes[steps]:
            del sizes[steps]
        self.most = UNBOUNDED if UNBOUNDED in sizes else _pooled(sizes)


def _pooled(bounds: Mapping[int, int]) -> int:
    """Returns the largest bound, and up to AT_ONCE of each other one; bounds are counted."""
    largest = max(bounds, default=UNBOUNDED)
    each = sum(min(one, AT_ONCE) * times for one, times in bounds.items())
    return largest - min(largest, AT_ONCE) + each
