"""Assignment: which lane keeps which view, or which part of it.

    lanes          0                      1
    walking_cost   origins in part 0      origins in part 1       split: no row crosses
    reach          vertices in part 0     vertices in part 1        split: rows cross at borders
    w_queries      what lane 0 says       what lane 1 says        split: each tells of itself
    free_machine   all of it              ·                       whole, where it costs least
    tenants        questions in part 0    questions in part 1     whole, by what they ask for

Law:    an assignment is a function of the log prefix and the number of lanes, so lanes agree on it
        without exchanging it. A view keeps its assignment as long as it is registered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any, Protocol

from aspen.algebra.carried import Carried, Root
from aspen.algebra.crossing import Crossing, choose_crossing, crossing_share
from aspen.algebra.functions import FUNCTIONS
from aspen.algebra.partition import Choice, carried_index, choose_root, split, work_of
from aspen.algebra.plan import Plan, Scan, Window, children
from aspen.algebra.subnetwork import Share as BorderShare
from aspen.log.entry import OneTimeKind, OneTimeQuery
from aspen.model.schema import Relation, Row, Value
from aspen.results.protocol import ViewChange
from aspen.runtime.borders import Borders, Layout
from aspen.runtime.own_assignment import (
    EVERYWHERE,
    OWN_ROOT,
    REASON,
    own_column,
    own_part,
    reads_own,
)
from aspen.runtime.own_relations import ENGINE_ERROR


@dataclass(frozen=True, slots=True)
class LaneShare:
    """Which of how many lanes a lane is."""

    number: int = 0
    lanes: int = 1


ALONE = LaneShare()


@dataclass(frozen=True, slots=True)
class Whole:
    """A view that one lane keeps.

    Args:
        provisional: its plan was not known when it was assigned.
    """

    lane: int
    reason: str = ""
    provisional: bool = False


@dataclass(frozen=True, slots=True)
class Split:
    """A view of which every lane keeps a part.

    Args:
        index: of the output column that says where a row is, -1 where none does.
        how: whether it has the root's value, or its key.
    """

    root: Root
    index: int = -1
    how: Carried = Carried.VALUE
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Bordered:
    """A view of a recursion of which every lane keeps what lies in its networks.

    Args:
        crossing: how the recursion is split.
        root: the table of vertices, its column of networks, and its key.
    """

    crossing: Crossing
    root: Root


Assignment = Whole | Split | Bordered
LaneOf = Callable[[Split, Row], int | None]


class Tables(Protocol):
    """What tables say between two epochs, the same in every lane."""

    def hold(self, root: Root) -> bool:
        """Whether a key may be relied on."""
        ...

    def networks(self, relation: Relation) -> Iterable[Value]:
        """Returns the networks that a table names."""
        ...


def part_of(value: Value, lanes: int) -> int:
    """Returns the lane a value falls to; the same in every process."""
    number: int = FUNCTIONS["part"].call(value, lanes)
    return number


def is_own(assigned: Assignment | None) -> bool:
    """Whether every lane keeps a view for what it says of itself."""
    return isinstance(assigned, Split) and assigned.root == OWN_ROOT


def assignment_out(assigned: Assignment) -> list[Any]:
    """Spell an assignment for a snapshot."""
    match assigned:
        case Whole(lane, reason, provisional):
            return [lane, reason, provisional]
        case Split(root, at, how, reason):
            return [root.relation, root.column, root.key, at, how.value, reason]
        case Bordered(crossing, root):
            return [root.column, root.key, *astuple(crossing), "crossing"]


def assignment_in(body: list[Any]) -> Assignment:
    """Read an assignment back."""
    match body:
        case [lane, reason, provisional]:
            return Whole(lane, reason, provisional)
        case [relation, column, key, at, how, reason]:
            return Split(Root(relation, column, key), at, Carried(how), reason)
        case [network, key, name, relation, column, reason, dealt, "crossing"]:
            crossing = Crossing(name, relation, column, reason, tuple(dealt))
            return Bordered(crossing, Root(relation, network, key))
    raise ValueError(f"not an assignment: {body!r}")


def windows_of(plan: Plan) -> set[Window]:
    """Returns the windows of a plan, each once."""
    own = {plan} if isinstance(plan, Window) else set()
    return own.union(*(windows_of(child) for child in children(plan)))


def starts_warm(window: Window, relations: Mapping[str, Relation]) -> bool:
    """Whether a window begins with all it would hold had it been there always."""
    scan = window.child
    if not isinstance(scan, Scan) or window.rows != 1 or window.slide_s is not None:
        return False
    relation = relations.get(scan.relation)
    names = {name.split(".")[-1] for name in window.partition_by}
    return relation is not None and bool(names) and names == {*relation.key}


class Assignments:
    """The assignments of all views, as one lane sees them; all lanes see the same.

    `touched` has, for each view that came, went or moved in this epoch, where it was and is;
    `watched` has, by relation, the roots whose key somebody relies on; `borders` has the recursions
    that are split by networks, as long as a view of them is registered.
    """

    def __init__(self, share: LaneShare, relations: Mapping[str, Relation]) -> None:
        self.share = share
        self._relations = relations
        self.by_view: dict[str, Assignment] = {}
        self.touched: dict[str, set[Assignment]] = {}
        self.shared: set[str] = set()
        self.asked: dict[str, int] = {}
        self.watched: dict[str, set[Root]] = {}
        self.borders: dict[str, Borders] = {}
        self._crossed = Counter[str]()
        self._built = [Counter[Plan]() for _ in range(share.lanes)]
        self._load = [0] * share.lanes
        self._work: dict[str, tuple[int, dict[Plan, int]]] = {}

    def of(self, view: str) -> Assignment:
        """Returns a view's assignment."""
        if view in self.asked:
            lane = self.asked[view]
            return Split(OWN_ROOT, reason=REASON) if lane == EVERYWHERE else Whole(lane)
        if view == ENGINE_ERROR.name and self.share.lanes > 1:
            return Split(OWN_ROOT, reason=REASON)
        return self.by_view.get(view) or self._anywhere(view)

    def put(
        self,
        view: str,
        closed: Plan | None,
        values: Row,
        given: Assignment | None,
        tables: Tables,
    ) -> Assignment:
        """Assign a view that is opened.

        Args:
            closed: its plan over base relations, None when it is not known.
            values: its parameters, as a tenant.
            given: the assignment it had in a snapshot.
            tables: what this lane's tables say now.
        """
        old = self.by_view.get(view)
        assigned = given or self._decide(view, closed, values, old, tables)
        if old is not None:
            self._forget_work(view)
        lanes = self.share.lanes
        if isinstance(assigned, Whole) and closed is not None and not values and lanes > 1:
            self._note_work(view, assigned.lane, work_of(closed))
        self.by_view[view] = assigned
        if isinstance(assigned, Bordered) and assigned.crossing.name not in self.borders:
            assert closed is not None, "a snapshot has the borders of the views that are in error"
            share, _ = self.crossing(assigned, closed)
            self.borders[assigned.crossing.name] = Borders(Layout.of(share), self.share.lanes)
        self._watch(old, assigned)
        self.touched.setdefault(view, set()).update({assigned} if old is None else {old, assigned})
        return assigned

    def part(self, assigned: Assignment, closed: Plan) -> Plan | None:
        """Returns the plan of what this lane keeps of a view, None where that is nothing."""
        if is_own(assigned):
            return own_part(closed, self.share.number, self.share.lanes)
        if isinstance(assigned, Split):
            return split(closed, assigned.root, self.share.number, self.share.lanes).plan
        if isinstance(assigned, Bordered):
            return self.crossing(assigned, closed)[1]
        return closed if assigned.lane == self.share.number else None

    def crossing(self, assigned: Bordered, closed: Plan) -> tuple[BorderShare, Plan]:
        """Returns this lane's share of a view's recursion, and what it keeps of the view."""
        relation = self._relations[assigned.crossing.relation]
        number, lanes = self.share.number, self.share.lanes
        return crossing_share(closed, assigned.crossing, relation, number, lanes)

    def by_root(self, roots: Collection[Root]) -> set[str]:
        """Returns the views that are split by one of some roots."""
        found = {v: p.root for v, p in self.by_view.items() if not isinstance(p, Whole)}
        return {view for view, root in found.items() if root in roots}

    def drop(self, view: str) -> None:
        """Forget a view that ended."""
        self._forget_work(view)
        old = self.by_view.pop(view, None)
        if old is not None:
            self._watch(old, None)
            self.touched.setdefault(view, set()).add(old)

    def ask(
        self, entry: OneTimeQuery, name: str, lane_of: LaneOf, *, own: bool = False
    ) -> tuple[bool, bool]:
        """Decide which lane answers a question.

        Args:
            name: the transient view of the answer.
            lane_of: says where a row of a split view is, None where nothing says so.
            own: whether it rests on what every lane says of itself.

        Returns:
            Whether it is this lane, and whether the part it has of the view is enough.
        """
        if self.share.lanes == 1:
            return True, True
        assigned = self.by_view.get(entry.view)
        found: int | None = None
        if isinstance(assigned, Whole):
            found = assigned.lane
        elif isinstance(assigned, Split) and entry.kind is OneTimeKind.WHY and not entry.free:
            found = lane_of(assigned, entry.row)
        lane = part_of(entry.ask, self.share.lanes) if found is None else found
        whose = self.asked.setdefault(name, EVERYWHERE if own else lane)
        everywhere = whose == EVERYWHERE
        return everywhere or whose == self.share.number, everywhere or found is not None

    def begin(self, asks: Collection[str]) -> None:
        """Begin an epoch.

        Args:
            asks: the transient views that are open.
        """
        self.touched = {}
        self.asked = {ask: self.asked[ask] for ask in asks if ask in self.asked}

    def published(self, changes: Sequence[ViewChange]) -> list[ViewChange]:
        """Returns what this lane publishes of an epoch's changes.

        `shared` then has the views of which other lanes may publish something, too.
        """
        self.shared = set()
        if self.share.lanes == 1:
            return list(changes)
        mine: list[ViewChange] = []
        for change in changes:
            assigned = self.touched.get(change.view) or {self.of(change.view)}
            parted = any(not isinstance(one, Whole) for one in assigned)
            here = self.share.number
            if parted or any(isinstance(p, Whole) and p.lane == here for p in assigned):
                mine.append(change)
                if len(assigned) > 1 or parted:
                    self.shared.add(change.view)
        return mine

    def _anywhere(self, view: str) -> Whole:
        return Whole(part_of(view, self.share.lanes), "by its name", provisional=True)

    def _decide(
        self,
        view: str,
        closed: Plan | None,
        values: Row,
        old: Assignment | None,
        tables: Tables,
    ) -> Assignment:
        lanes = self.share.lanes
        if lanes == 1:
            return Whole(0)
        if closed is None:
            return old or self._anywhere(view)
        if reads_own(closed):
            return Split(OWN_ROOT, own_column(closed, lanes), reason=REASON)
        if values:
            return Whole(part_of(repr(values), lanes), "by what it asks for")
        choice = choose_root(closed, self._relations, lanes)
        if choice is not None and (not choice.root.key or tables.hold(choice.root)):
            return _split(choice, closed)
        crossing = choose_crossing(closed, self._relations, lanes, tables.networks)
        if isinstance(crossing, Crossing):
            relation = self._relations[crossing.relation]
            root = Root(relation.name, relation.network, relation.key[0])
            if tables.hold(root):
                return Bordered(crossing, root)
        if isinstance(old, Whole) and not old.provisional:
            return old
        work = work_of(closed)
        costs = [
            (load + sum(units for part, units in work.items() if not built[part]), lane)
            for lane, (load, built) in enumerate(zip(self._load, self._built, strict=True))
        ]
        return Whole(min(costs)[1], "where it costs least")

    def _watch(self, old: Assignment | None, new: Assignment | None) -> None:
        if any(_key_of(assigned) for assigned in (old, new)):
            self.watched = {}
            for assigned in self.by_view.values():
                if not isinstance(assigned, Whole) and assigned.root.key:
                    self.watched.setdefault(assigned.root.relation, set()).add(assigned.root)
        if isinstance(new, Bordered):
            self._crossed[new.crossing.name] += 1
        if isinstance(old, Bordered):
            self._crossed[old.crossing.name] -= 1
            if not self._crossed[old.crossing.name]:
                del self._crossed[old.crossing.name], self.borders[old.crossing.name]

    def _note_work(self, view: str, lane: int, work: dict[Plan, int]) -> None:
        self._work[view] = (lane, work)
        for part, units in work.items():
            self._load[lane] += 0 if self._built[lane][part] else units
            self._built[lane][part] += 1

    def _forget_work(self, view: str) -> None:
        lane, work = self._work.pop(view, (0, {}))
        for part, units in work.items():
            self._built[lane][part] -= 1
            if not self._built[lane][part]:
                del self._built[lane][part]
                self._load[lane] -= units


def _key_of(assigned: Assignment | None) -> str:
    return "" if assigned is None or isinstance(assigned, Whole) else assigned.root.key


def _split(choice: Choice, closed: Plan) -> Split:
    index, how = carried_index(choice.kept, closed) or (-1, Carried.VALUE)
    return Split(choice.root, index, how, choice.reason)
