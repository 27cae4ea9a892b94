"""Lane: the state machine fed by the log; it hosts many maintained views.

Law: after `apply`, every view equals the oracle over the log prefix; the cutting of the log into
batches does not show in the folded changes.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from typing import Any

from aspen.algebra.plan import Plan, Window, children, relations_of
from aspen.algebra.read import read_plan
from aspen.errors import AspenError
from aspen.log.entry import (
    Declare,
    Entry,
    Register,
    Tick,
    Transaction,
    Unregister,
    decode,
    encode,
)
from aspen.model.delta import Delta, accumulate, add, negate
from aspen.model.schema import Relation, Row, SourceKind
from aspen.results.protocol import ViewChange
from aspen.views.oracle import evaluate


class Lane:
    """One lane."""

    def __init__(self) -> None:
        self.position = 0
        self._relations: dict[str, Relation] = {}
        self._contents: dict[str, Delta] = {}
        self._newest: dict[str, dict[Row, tuple[float, Row]]] = {}
        self._views: dict[str, tuple[Register, Plan]] = {}
        self._rows: dict[str, Delta] = {}
        self._windows: dict[str, dict[Plan, list[tuple[float, Row]]]] = {}
        self._now_s = 0.0

    def apply(self, entries: Sequence[tuple[int, Entry]]) -> list[ViewChange]:
        """Apply one batch of the log and give what it did to the views."""
        before = {view: dict(rows) for view, rows in self._rows.items()}
        fresh: set[str] = set()
        extra: list[ViewChange] = []
        for position, entry in entries:
            self.position = max(self.position, position)
            match entry:
                case Declare(_, relation):
                    self._relations[relation.name] = relation
                    self._contents.setdefault(relation.name, {})
                case Transaction(at_s, changes):
                    for change in changes:
                        known = self._relations.get(change.relation)
                        if known is None:
                            continue
                        if known.kind is SourceKind.STREAM:
                            self._arrive(known, at_s, change.row)
                        else:
                            accumulate(self._contents[known.name], change.row, change.weight)
                case Tick(at_s):
                    self._now_s = at_s
                    self._contents["clock"] = {(at_s,): 1}
                case Register():
                    try:
                        plan = read_plan(entry.plan_text)
                    except AspenError as error:
                        extra.append(ViewChange(entry.view, error=error.as_dict()))
                        continue
                    self._views[entry.view] = (entry, plan)
                    self._windows[entry.view] = {
                        window: self._warm(window) for window in _windows(plan)
                    }
                    fresh.add(entry.view)
                case Unregister(_, view):
                    if self._views.pop(view, None):
                        self._windows.pop(view)
                        self._rows.pop(view, None)
                        fresh.discard(view)
                        extra.append(ViewChange(view, closed=True))
        self._recompute()
        moved: list[ViewChange] = []
        for view, (_, plan) in self._views.items():
            delta = add(self._rows[view], negate(before.get(view, {})))
            columns = tuple((c.name, c.type.value, c.unit) for c in plan.columns)
            if delta or view in fresh:
                moved.append(ViewChange(view, delta, columns if view in fresh else ()))
        return extra + moved

    def rows(self, view: str) -> Delta:
        """Give a view's rows with their multiplicities."""
        return dict(self._rows[view])

    def why(self, view: str, row: Row) -> list[frozenset[tuple[str, Row]]]:
        """Give the minimal sets of base rows that each suffice for `row`."""
        raise KeyError(view, row)

    def snapshot(self) -> bytes:
        """Give the lane's state."""
        body: dict[str, Any] = {
            "position": self.position,
            "now_s": self._now_s,
            "relations": [encode(Declare(0.0, r)).decode() for r in self._relations.values()],
            "contents": {n: [[w, *r] for r, w in d.items()] for n, d in self._contents.items()},
            "newest": {n: list(d.values()) for n, d in self._newest.items()},
            "views": [encode(r).decode() for r, _ in self._views.values()],
            "windows": [list(w.values()) for w in self._windows.values()],
        }
        return zlib.compress(json.dumps(body, separators=(",", ":")).encode())

    @classmethod
    def restore(cls, data: bytes) -> Lane:
        """Build the lane a snapshot was taken of."""
        body = json.loads(zlib.decompress(data))
        lane = cls()
        lane.position, lane._now_s = body["position"], body["now_s"]
        for text in body["relations"]:
            entry = decode(text.encode())
            assert isinstance(entry, Declare)
            lane._relations[entry.relation.name] = entry.relation
        for name, rows in body["contents"].items():
            lane._contents[name] = {tuple(r[1:]): r[0] for r in rows}
        for name, pairs in body["newest"].items():
            for at_s, row in pairs:
                relation = lane._relations[name]
                lane._newest.setdefault(name, {})[_key(relation, tuple(row))] = (at_s, tuple(row))
        for text, held in zip(body["views"], body["windows"], strict=True):
            entry = decode(text.encode())
            assert isinstance(entry, Register)
            plan = read_plan(entry.plan_text)
            lane._views[entry.view] = (entry, plan)
            lane._windows[entry.view] = {
                window: [(at_s, tuple(row)) for at_s, row in rows]
                for window, rows in zip(_windows(plan), held, strict=True)
            }
        lane._recompute()
        return lane

    def _arrive(self, relation: Relation, at_s: float, row: Row) -> None:
        if relation.key:
            newest = self._newest.setdefault(relation.name, {})
            newest[_key(relation, row)] = (at_s, row)
        for held in self._windows.values():
            for window, rows in held.items():
                if relation.name in relations_of(window):
                    rows.append((at_s, row))

    def _warm(self, window: Window) -> list[tuple[float, Row]]:
        (name,) = relations_of(window)
        relation = self._relations.get(name)
        aliased = {part.split(".")[-1] for part in window.partition_by}
        if relation is None or window.rows != 1 or set(relation.key) != aliased:
            return []
        return list(self._newest.get(name, {}).values())

    def _recompute(self) -> None:
        contents = dict(self._contents)
        for view, (_, plan) in self._views.items():
            windows: dict[Plan, Delta] = {}
            for window, rows in self._windows[view].items():
                assert isinstance(window, Window)
                windows[window] = self._held(window, rows)
            self._rows[view] = contents[view] = evaluate(plan, contents, windows)

    def _held(self, window: Window, rows: list[tuple[float, Row]]) -> Delta:
        names = [column.name for column in window.columns]
        places = [names.index(name) for name in window.partition_by]
        parts: dict[Row, list[tuple[float, Row]]] = {}
        for at_s, row in rows:
            parts.setdefault(tuple(row[p] for p in places), []).append((at_s, row))
        held: Delta = {}
        for part in parts.values():
            for at_s, row in part if window.rows is None else part[-window.rows :]:
                if window.range_s is None or at_s > self._now_s - window.range_s:
                    accumulate(held, row, 1)
        return held


def _key(relation: Relation, row: Row) -> Row:
    return tuple(row[relation.index(name)] for name in relation.key)


def _windows(plan: Plan) -> list[Window]:
    own = [plan] if isinstance(plan, Window) else []
    return own + [window for child in children(plan) for window in _windows(child)]
