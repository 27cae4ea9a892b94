"""Load: readings, edits and rows, each sent again under its own key until it is acknowledged.

What was acknowledged is all that is remembered; two queries and a standing view show it:

    readings   values of one seat that no simulated one reports      counted by a query of ours
    rows       inserted into a table of our own, which has a key     kept by a query of ours
    edits      doors opened and locked in turns                      door_state, and the log
"""

from __future__ import annotations

import random
import threading
import time
import urllib.error
from collections import Counter
from typing import Any

from tests.bench.rig import Rig

PERIOD_S = 0.4
AGAIN_S = 0.5
DOORS = 3
LEAST_KG = 40.0  # nobody who is simulated weighs so little
STEP_KG = 1e-6
READINGS = (
    "SELECT s.weight_kg, COUNT(*) AS n FROM seat_reading [RANGE 14400 SECONDS] s "
    "WHERE s.mid = '{mid}' AND s.weight_kg >= 40.0 AND s.weight_kg < 41.0 GROUP BY s.weight_kg"
)
TABLE = "chaos_row"
ROWS = f"SELECT r.number, r.said FROM {TABLE} r"
_LATER = {429, 500, 502, 503}


class Load(threading.Thread):
    """Works until stopped; while it is paused, all that was sent is acknowledged.

    Args:
        rig: the product.
        seed: of its choices, and part of its keys.
    """

    def __init__(self, rig: Rig, seed: int) -> None:
        super().__init__(daemon=True)
        self.rig = rig
        self.seed = seed
        self.values: list[float] = []
        self.rows: list[tuple[int, str]] = []
        doors = [door for door, _ in zip(rig.items("doors/"), range(DOORS), strict=False)]
        self.doors: dict[str, list[str]] = {door["id"]: [door["state"]] for door in doors}
        self.told: Counter[int] = Counter()
        self.broken = ""
        self._seat = next(one for one in rig.items("sensors/") if one["kind"] == "seat")
        self._turn = threading.Lock()
        self._stopping = threading.Event()
        rig.call(
            "POST",
            "queries/",
            {"sql": f"CREATE TABLE {TABLE} (number INT NOT NULL, said TEXT, PRIMARY KEY (number))"},
        )
        self.views = {
            "readings": self._query(READINGS.format(mid=self._seat["mid"])),
            "rows": self._query(ROWS),
        }

    def _query(self, sql: str) -> str:
        return str(self.rig.call("POST", "queries/", {"sql": sql})["view"])

    @property
    def acknowledged(self) -> dict[str, int]:
        """How many of each there are."""
        edits = sum(len(states) - 1 for states in self.doors.values())
        return {"readings": len(self.values), "rows": len(self.rows), "edits": edits}

    def run(self) -> None:
        """Send until stopped."""
        dice = random.Random(self.seed)
        try:
            while not self._stopping.wait(PERIOD_S):
                with self._turn:
                    self._one(dice)
        except Exception as error:  # whoever compares has to hear of it
            self.broken = f"{type(error).__name__}: {error}"
            raise

    def pause(self, wait_s: float) -> bool:
        """Let nothing be under way; False if that took too long."""
        return self._turn.acquire(timeout=wait_s)

    def go_on(self) -> None:
        """End a pause."""
        self._turn.release()

    def stop(self) -> None:
        """Send nothing more."""
        self._stopping.set()
        self.join(60)

    def _one(self, dice: random.Random) -> None:
        match dice.randrange(4):
            case 0:
                row = (len(self.rows), f"row {dice.random():.6f}")
                sql = f"INSERT INTO {TABLE} VALUES ({row[0]}, '{row[1]}')"
                self._insist("POST", "queries/", {"sql": sql})
                self.rows.append(row)
            case 1:
                door = dice.choice(sorted(self.doors))
                state = "open" if self.doors[door][-1] == "locked" else "locked"
                self._insist("PATCH", f"doors/{door}/", {"state": state})
                self.doors[door].append(state)
            case _:
                number = len(self.values)
                value = round(LEAST_KG + number * STEP_KG, 6)
                reading = {
                    "sid": self._seat["sid"],
                    "value": value,
                    "unit": "kg",
                    "at_s": time.time(),
                }
                key = {"Idempotency-Key": f"chaos-{self.seed}-{number}"}
                self._insist("POST", "readings/", [reading], key)
                self.values.append(value)

    def _insist(
        self, method: str, path: str, body: object, headers: dict[str, str] | None = None
    ) -> Any:
        again = False
        while True:
            try:
                return self.rig.call(method, path, body, headers)
            except urllib.error.HTTPError as error:
                self.told[error.code] += 1
                said = error.read()
                if again and b"would share" in said:
                    return None  # it was there already: the answer to the first try got lost
                if error.code not in _LATER:
                    raise RuntimeError(f"{path} {body}: {error.code} {said[:300]!r}") from error
            except (OSError, ValueError):
                pass  # nobody there, or half an answer
            again = True
            time.sleep(AGAIN_S)
