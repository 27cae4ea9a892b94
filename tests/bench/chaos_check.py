"""Compare, after a round of faults: views with the oracle, clients with views, all with the load.

    log ──────► oracle ═══ views as of one epoch ═══ folds of what the client was told
    acknowledged readings, rows, edits ═══ the views that show them, the doors' changes in the log

Each comparison goes on from where the one before ended.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from aspen.log.entry import Entry, Transaction
from aspen.log.redis_log import RedisLog
from aspen.results.protocol import EpochSnapshot
from aspen.results.redis_results import RedisResults
from tests.bench.chaos_load import Load
from tests.bench.client import Client, Row
from tests.bench.recovery import differences, fold_at, stored_deltas
from tests.standing.oracle import Oracle

WAIT_S = 60.0  # for what was acknowledged to be published, and for the client to hear of it
LOOK_S = 0.2
SHOWN = 3


@dataclass(slots=True)
class Compared:
    """What comparisons found so far; all but the first three should stay 0.

    Args:
        times: how often everything was compared.
        views: how many views were, each time the same.
        deltas: told to the client and compared with the stored ones.
        wrong_views, wrong_folds: unlike the oracle; unlike the view.
        lost, doubled: of what was acknowledged.
        lost_deltas, doubled_deltas, broken_chains: of the client.
        what: the differences in words.
    """

    times: int = 0
    views: int = 0
    deltas: int = 0
    wrong_views: int = 0
    wrong_folds: int = 0
    lost: int = 0
    doubled: int = 0
    lost_deltas: int = 0
    doubled_deltas: int = 0
    broken_chains: int = 0
    what: list[str] = field(default_factory=list)


class Comparer:
    """Keeps the oracle and how far everything was compared.

    Args:
        log: of the product.
        results: of the product.
        load: what acknowledged things are known from.
        client: follows views, those of the load among them.
    """

    def __init__(self, log: RedisLog, results: RedisResults, load: Load, client: Client) -> None:
        self._log, self._results, self._load, self._client = log, results, load, client
        self._oracle = Oracle()
        self._read = self._compared = 0
        self._locked: dict[str, list[str]] = {door: [s[0]] for door, s in load.doors.items()}
        self.found = Compared()

    def compare(self, number: int) -> None:
        """Compare everything at a moment at which nothing is under way.

        Args:
            number: of the round, for the words.
        """
        found, before = self.found, len(self.found.what)
        if not self._load.pause(WAIT_S):
            found.lost += 1
            found.what.append(f"round {number}: something was not acknowledged in {WAIT_S:g} s")
            return
        try:
            views, held = self._settled()
            edits = {door: list(states) for door, states in self._load.doors.items()}
        finally:
            self._load.go_on()
        found.times += 1
        self._with_oracle(views)
        self._with_acknowledged(held, edits)
        self._with_client(views)
        found.what[before:] = [f"round {number}: {text}" for text in found.what[before:]]

    def _settled(self) -> tuple[dict[str, EpochSnapshot], dict[str, Any]]:
        """Returns all views once they show what was acknowledged, and what they differ in then."""
        ends = time.monotonic() + WAIT_S
        head = self._log.head()
        while True:
            names = {*self._oracle.expected(), *self._client.views}
            views = self._results.snapshots(sorted(names))
            held = self._unlike_acknowledged(views)
            reached = max(one.position for one in views.values()) >= head
            if (reached and not any(held.values())) or time.monotonic() > ends:
                return views, held
            time.sleep(LOOK_S)

    def _unlike_acknowledged(self, views: dict[str, EpochSnapshot]) -> dict[str, Any]:
        load = self._load
        sent = set(load.values)
        readings: dict[Row, int] = dict(views[load.views["readings"]].rows)
        seen = {value: count * weight for (value, count), weight in readings.items()}
        rows: dict[Row, int] = dict(views[load.views["rows"]].rows)
        doors = {row[:2] for row in views["door_state"].rows}
        now = {(door, states[-1]): 1 for door, states in load.doors.items()}
        return {
            "lost": [
                *(value for value in sent if value not in seen),
                *(row for row in load.rows if row not in rows),
                *(row for row in now if row not in doors),
            ],
            "doubled": [
                *(value for value, count in seen.items() if count > 1 or value not in sent),
                *(row for row, count in rows.items() if count > 1 or row not in load.rows),
            ],
        }

    def _with_acknowledged(self, held: dict[str, Any], edits: dict[str, list[str]]) -> None:
        found = self.found
        found.lost += len(held["lost"])
        found.doubled += len(held["doubled"])
        for what, rows in held.items():
            if rows:
                found.what.append(f"{what} of what was acknowledged: {rows[:SHOWN]}")
        for door, states in edits.items():
            logged = self._locked[door]
            if logged != states:
                short = len(states) - len(logged)
                found.lost += max(short, 0)
                found.doubled += max(-short, 0) or (short == 0)
                counts = f"{len(states) - 1} edits, {len(logged) - 1} in the log"
                found.what.append(f"door {door}: {counts}")

    def _with_oracle(self, views: dict[str, EpochSnapshot]) -> None:
        found = self.found
        position = max(one.position for one in views.values())
        for _, entry in self._log.read(self._read, position):
            self._oracle.feed(entry)
            self._note_doors(entry)
        self._read = position
        expected = self._oracle.expected()
        found.views = len(expected)
        for view, rows in expected.items():
            one = views.get(view)
            if one is None or one.error is not None:
                wrong = "missing" if one is None else f"it says {one.error}"
            else:
                ours = dict(one.rows)
                if ours == dict.fromkeys(rows, 1):
                    continue
                more = sorted(map(repr, set(ours) - rows))[:SHOWN]
                less = sorted(map(repr, rows - set(ours)))[:SHOWN]
                twice = sorted(repr(one) for one in ours.items() if one[1] != 1)[:SHOWN]
                wrong = f"too much {more}, too little {less}, not once {twice}"
            found.wrong_views += 1
            found.what.append(f"{view} at {position} is unlike the oracle: {wrong}")

    def _note_doors(self, entry: Entry) -> None:
        if not isinstance(entry, Transaction):
            return
        for change in entry.changes:
            if change.relation == "door" and change.weight > 0:
                door, state = str(change.row[0]), str(change.row[1])
                states = self._locked.get(door)
                if states is not None and states[-1] != state:
                    states.append(state)

    def _with_client(self, views: dict[str, EpochSnapshot]) -> None:
        """Compare what a client was told up to the epoch of the views."""
        found, client = self.found, self._client
        epoch = max(one.epoch for one in views.values())
        ends = time.monotonic() + WAIT_S
        while not self._heard(epoch) and time.monotonic() < ends:
            time.sleep(LOOK_S)
        stored = stored_deltas(self._results, self._compared, client.views)
        with client.lock:
            for view, heard in client.heard.items():
                since = max(self._compared, heard.snapshots[0]) if heard.snapshots else epoch
                lost, doubled, broken = differences(heard, stored[view], since, epoch)
                found.lost_deltas += lost
                found.doubled_deltas += doubled
                found.broken_chains += broken + len(heard.faults)
                found.what += [f"{view}: {text}" for text in heard.faults[:SHOWN]]
                if lost or doubled or broken:
                    found.what.append(
                        f"{view}: {lost} deltas lost, {doubled} doubled, {broken} otherwise wrong"
                    )
                found.deltas += sum(1 for delta in heard.deltas if delta[1] <= epoch)
                whole = not heard.snapshots or heard.snapshots[-1] <= epoch
                if whole and fold_at(heard, epoch) != dict(views[view].rows):
                    found.wrong_folds += 1
                    found.what.append(f"{view}: the client's fold is not the view")
                heard.faults.clear()
                heard.deltas = [delta for delta in heard.deltas if delta[1] > epoch]
                heard.jumps = [jump for jump in heard.jumps if jump[1] > epoch]
        self._compared = epoch

    def _heard(self, epoch: int) -> bool:
        with self._client.lock:
            return self._client.epoch >= epoch and self._client.connected
