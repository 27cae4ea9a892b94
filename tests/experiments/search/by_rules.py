"""Search by rules: R1 to R10 as Overlog, executed by this engine in a lane in process.

The external functions are relations. Those of an OR node are filled in when the rules ask for it
(`wanted`), so the search goes down from the goal in waves, while costs already go up. A change of
a cost is a change of rows, and what follows from it is view maintenance.

Law:    cost and plan are those of `bottom_up`, in whatever order rules and rows come, and after
        every change those of a search from scratch.
Source: [Liu, Ives and Loo, SIGMOD 2016].
"""

from __future__ import annotations

import random
from dataclasses import astuple
from functools import cache
from pathlib import Path

from aspen.algebra.explain import plan_text
from aspen.log.entry import Change, Declare, Entry, Register, Transaction
from aspen.model.catalog import Catalog
from aspen.model.schema import Column, Relation, Row, Type
from aspen.overlog import compile_program
from aspen.runtime.lane import Lane
from aspen.streamsql import Compiled
from federation.search.space import SCAN, And, Node, NoPlan, PlanTree, Space, unfold

STRATEGY = "justification"
"""Keeps no annotations: a dense and-or graph has too many ways to each node to write them down."""
RULES = Path(__file__).parent / "rules.olg"
ENFORCERS = frozenset({"stay", "ship", "sort"})
"""Logical operators that change a property of the same expression."""
_TEXT, _INT = Type.TEXT, Type.INT
_COLUMNS: dict[str, dict[str, Type]] = {
    "goal": {"e": _TEXT, "p": _TEXT},
    "isleaf": {"e": _TEXT, "yes": Type.BOOL},
    "fn_split": {
        "e": _TEXT,
        "p": _TEXT,
        "i": _INT,
        "log": _TEXT,
        "phy": _TEXT,
        "l": _TEXT,
        "lp": _TEXT,
        "r": _TEXT,
        "rp": _TEXT,
    },
    "fn_enforce": {"e": _TEXT, "p": _TEXT, "log": _TEXT, "phy": _TEXT, "lp": _TEXT},
    "fn_phyop": {"e": _TEXT, "p": _TEXT, "phy": _TEXT},
    "fn_scansummary": {"e": _TEXT, "p": _TEXT, "md": _TEXT},
    "fn_nonscansummary": {"e": _TEXT, "p": _TEXT, "i": _INT, "md": _TEXT},
    "scan_cost": {"e": _TEXT, "p": _TEXT, "phy": _TEXT, "c": _INT},
    "local_cost": {"e": _TEXT, "p": _TEXT, "i": _INT, "phy": _TEXT, "c": _INT},
}
CATALOG = Catalog.of(
    Relation(name, tuple(Column(column, kind) for column, kind in columns.items()))
    for name, columns in _COLUMNS.items()
)
Fact = tuple[str, Row]


@cache
def compiled(text: str | None = None) -> tuple[Compiled, ...]:
    """Compile a text of rules; the package's own, if None."""
    return tuple(compile_program(text or RULES.read_text(encoding="utf-8"), CATALOG))


class RuleSearch:
    """A search that stays: it holds the and-or graph and follows changes of costs.

    Args:
        rules: the text of the rules, to try them in another order.
        shuffle: brings the rows of each wave in a random order, cut in transactions at random.
        strategy: how the engine maintains the recursions.
    """

    def __init__(
        self,
        space: Space,
        *,
        rules: str | None = None,
        shuffle: random.Random | None = None,
        strategy: str = STRATEGY,
    ) -> None:
        self.space = space
        self.lane = Lane()
        self.changed_rows = 0
        self._shuffle = shuffle
        self._position = 0
        self._asked: set[Node] = set()
        self._facts: set[Fact] = set()
        self._feed(*(Declare(0.0, relation) for relation in CATALOG))
        for view in compiled(rules):
            self._feed(Register(0.0, view.name or "", plan_text(view.plan), strategy))
        self._tell({("goal", space.goal)}, set())
        self._descend()

    def rows(self, relation: str) -> list[Row]:
        """Returns the rows of a relation of the rules: search_space, plan_cost, best_plan."""
        return sorted(self.lane.rows(relation))

    @property
    def costs(self) -> dict[Node, int]:
        """The least cost of every OR node that has a plan."""
        return {_node(row): int(row[2] or 0) for row in self.lane.rows("best_cost")}

    def answer(self) -> PlanTree:
        """Returns the best plan; of equally good ones the first.

        Raises:
            NoPlan: the goal cannot be reached.
        """
        best: dict[Node, tuple[int, And]] = {}
        for row in self.lane.rows("best_plan"):
            way = _way(row)
            if way.node not in best or way < best[way.node][1]:
                best[way.node] = (int(row[10] or 0), way)
        if self.space.goal not in best:
            raise NoPlan("no plan brings the answer there", found=" ".join(self.space.goal))
        return unfold(self.space.goal, best)

    def absorb(self, space: Space) -> int:
        """Follow a change of statistics, costs, predicates or sites, or turn to another query.

        Returns:
            How many rows of the external functions changed.
        """
        goal = {("goal", self.space.goal)}, {("goal", space.goal)}
        self.space = space
        self._asked &= set(space.upwards())
        now = {fact for node in self._asked for fact in facts(space, node)}
        gone = (self._facts - now) | (goal[0] - goal[1])
        come = (now - self._facts) | (goal[1] - goal[0])
        self._facts = now
        self._tell(come, gone)
        return len(come) + len(gone) + self._descend()

    def _descend(self) -> int:
        """Fill in the functions of what the rules ask for until they ask for nothing new."""
        told = 0
        while waiting := {_node(row) for row in self.lane.rows("wanted")} - self._asked:
            fresh = {fact for node in waiting for fact in facts(self.space, node)}
            self._asked |= waiting
            self._tell(fresh - self._facts, set())
            self._facts |= fresh
            told += len(fresh)
        return told

    def _tell(self, come: set[Fact], gone: set[Fact]) -> None:
        changes = [Change(name, -1, row) for name, row in sorted(gone)]
        changes += [Change(name, 1, row) for name, row in sorted(come)]
        if self._shuffle is None:
            self._feed(Transaction(0.0, tuple(changes)))
            return
        self._shuffle.shuffle(changes)
        while changes:
            cut = self._shuffle.randint(1, len(changes))
            self._feed(Transaction(0.0, tuple(changes[:cut])))
            del changes[:cut]

    def _feed(self, *entries: Entry) -> None:
        numbered = [(self._position + i, entry) for i, entry in enumerate(entries, start=1)]
        self._position += len(entries)
        for change in self.lane.apply(numbered):
            if change.error is not None:
                raise RuntimeError(f"the rules' view {change.view} broke: {change.error}")
            self.changed_rows += len(change.delta)


def _node(row: Row) -> Node:
    return str(row[0]), str(row[1])


def _way(row: Row) -> And:
    expr, prop, index, *rest = row[:9]
    return And(str(expr), str(prop), int(index or 0), *map(str, rest))


def facts(space: Space, node: Node) -> set[Fact]:
    """Returns the rows of the external functions for one OR node."""
    expr, prop = node
    found: set[Fact] = {("isleaf", (expr, False))}
    for way in space.ways(node):
        cost = space.cost(way)
        # What an operator gives depends on the set of relations alone.
        summary = f"rows of {expr}"
        if way.log == SCAN:
            found.add(("isleaf", (expr, True)))
            found.add(("fn_phyop", (expr, prop, way.phy)))
            found.add(("fn_scansummary", (expr, prop, summary)))
            found.add(("scan_cost", (expr, prop, way.phy, cost)))
            continue
        if way.log in ENFORCERS:
            found.add(("fn_enforce", (expr, prop, way.log, way.phy, way.left_prop)))
        else:
            found.add(("fn_split", astuple(way)))
        found.add(("fn_nonscansummary", (expr, prop, way.index, summary)))
        found.add(("local_cost", (expr, prop, way.index, way.phy, cost)))
    return found
