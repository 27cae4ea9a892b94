"""What the views of walks hold: where visitors are led, by which way, and why that changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Rows = set[tuple[Any, ...]]
Costs = Mapping[tuple[int, bool], dict[int, int]]
VIEWS = (
    *("destination", "reachable_destination", "nearest_destination", "no_route"),
    *("route_step", "route_door", "route_news"),
)


@dataclass
class Walks:
    """Computes the views one visitor after the other.

    Args:
        graphs: the open ways, by whether they are without steps.
        costs: the cheapest walk from each demanded position to each node.
        free: machine, room and node of the free machines.
        states: state and reason of machines and rooms.
    """

    tables: Mapping[str, Rows]
    graphs: Mapping[bool, Any]
    costs: Costs
    free: Rows
    states: Mapping[str, tuple[str, str]]
    found: dict[str, Rows] = field(default_factory=lambda: {name: set() for name in VIEWS})

    def expected(self) -> dict[str, Rows]:
        """Leads each visitor, and says why otherwise than before."""
        self.found["destination"] = self._destinations()
        for question in sorted(self.tables["route_request"]):
            self._lead(question)
        return self.found

    def _destinations(self) -> Rows:
        """Returns goal, target, room, machine and walking point of all one may be led to."""
        software = defaultdict(set)
        for mid, name in self.tables["machine_software"]:
            software[mid].add(name)
        found: Rows = {
            (f"free-machine:{name}", mid, rid, mid, node)
            for mid, rid, node in self.free
            for name in software[mid]
        }
        found |= {(f"machine:{m[0]}", m[0], m[2], m[0], m[3]) for m in self.tables["machine"]}
        found |= {(f"room:{n[2]}", n[2], n[2], "", n[0]) for n in self.tables["routing_node"]}
        return found

    def _lead(self, question: tuple[Any, ...]) -> None:
        session, origin, goal, flat = question
        reach = self.costs[origin, flat]
        there = {row[1:] for row in self.found["destination"] if row[0] == goal}
        far: dict[tuple[Any, ...], int] = {}
        for target, rid, mid, node in there:
            if node in reach:
                what = (target, rid, mid)
                far[what] = min(reach[node], far.get(what, reach[node]))
        aims = {row[1] for row in self.tables["route_target"] if row[0] == session}
        for what, cost in far.items():
            self.found["reachable_destination"].add((*question, *what, cost))
        if not far:
            reason = "no open way" if there else "nothing there"
            self.found["no_route"].add((*question, reason))
            self._news(question, None, None, there, far)
            return
        what = min(far, key=lambda one: (far[one], one[0]))
        kept = [one for one in far if one[0] in aims]
        if kept and self._worth_keeping(far[kept[0]], far[what]):
            what = kept[0]
        cost = far[what]
        node = min(n for *w, n in there if tuple(w) == what and reach.get(n) == cost)
        self.found["nearest_destination"].add((*question, *what, node, cost))
        self._walk((*question, what[0]), node, reach)
        self._news(question, what[0], cost, there, far)

    def _worth_keeping(self, cost: int, least: int) -> bool:
        """Returns whether nothing gains more than either of what the rule says."""
        return any(
            cost - least <= gain_mm and (cost - least) / max(cost, 1) <= gain_pct / 100
            for gain_pct, gain_mm in self.tables["route_rule"]
        )

    def _walk(self, answer: tuple[Any, ...], node: int, reach: Mapping[int, int]) -> None:
        """Follows the way back from a point, over the lowest of equally good ones before it."""
        graph = self.graphs[answer[3]]
        at = {row[0]: (row[1], row[3], row[4]) for row in self.tables["routing_node"]}
        while True:
            self.found["route_step"].add((*answer, node, reach[node], *at[node]))
            if reach[node] == 0:
                return
            before = min(
                other
                for other, _, data in graph.in_edges(node, data=True)
                if other in reach and reach[other] + data["weight"] == reach[node]
            )
            self.found["route_door"] |= {
                (answer[0], edge[5])
                for edge in self.tables["routing_edge"]
                if edge[:2] == (before, node) and edge[5] is not None
            }
            node = before

    def _news(
        self,
        question: tuple[Any, ...],
        target: str | None,
        cost: int | None,
        there: Rows,
        far: Mapping[tuple[Any, ...], int],
    ) -> None:
        """Says why a visitor is led otherwise, and what he was told while that is still so."""
        told = {row[1:] for row in self.tables["route_told"] if row[0] == question[0]}
        news = {row for row in told if row[2:4] == (target, cost)}
        doors = {door[0]: door for door in self.tables["door"]}
        for session, was, was_cost, since_s in self.tables["route_target"]:
            if session != question[0] or (was, was_cost) == (target, cost):
                continue
            then = {door for one, door in self.tables["route_target_door"] if one == session}
            now = {door for one, door in self.found["route_door"] if one == session}
            locked = {door for door in then if door in doors and doors[door][1] != "open"}
            causes: set[tuple[Any, ...]] = {("door locked", door, "") for door in locked}
            if was not in {one[0] for one in there} and was in self.states:
                causes.add((self.states[was][0], was, self.states[was][1]))
            if cost is not None and cost < was_cost:
                opened = {door for door in now if doors[door][5] > since_s}
                causes |= {("door opened", door, "") for door in opened}
            if target not in (None, was) and was in {one[0] for one in far}:
                causes.add(("nearer", "", ""))
            for cause in causes or {(None, None, None)}:
                news.add((was, was_cost, target, cost, *cause))
        self.found["route_news"] |= {(*question, *row) for row in news}
