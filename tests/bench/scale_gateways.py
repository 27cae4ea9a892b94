"""Gateways: a process that appends readings to a log at a rate, many to a transaction.

    gateway 0   ▪▪▪▪▪▪▪…      each gateway hears its devices once a second and sends what it heard
    gateway 1   ▪▪▪▪▪▪▪…      as one transaction; gateways take turns, so that the rate is even

Run as `python -m tests.bench.scale_gateways URL NAME RATE SECONDS FIRST_S`, it prints, once it
ends, one JSON line per append: the last position, wall clock in ms, readings.
"""

from __future__ import annotations

import json
import sys
import time
from random import Random

from aspen.log.entry import Change, Entry, Tick, Transaction
from aspen.log.redis_log import RedisLog
from aspen.model.schema import Row

STREAM = "reading"
ROOMS = 400
READINGS_PER_TRANSACTION = 200
APPENDS_PER_S = 20


def readings(gateway: int, second: int, at_s: float) -> tuple[Row, ...]:
    """Returns what one gateway hears in one second: device, room, °C, time; seeded."""
    draw = Random(gateway * 1_000_003 + second)
    first = gateway * READINGS_PER_TRANSACTION
    return tuple(
        (device, f"room {device % ROOMS}", round(draw.uniform(15.0, 30.0), 2), at_s)
        for device in range(first, first + READINGS_PER_TRANSACTION)
    )


def run(log: RedisLog, rate: int, seconds: int, first_s: int) -> list[tuple[int, float, int]]:
    """Append at a rate in real time; whoever falls behind appends without a pause."""
    per_append = rate // (APPENDS_PER_S * READINGS_PER_TRANSACTION)
    appends: list[tuple[int, float, int]] = []
    began_s = time.monotonic()
    for second in range(first_s, first_s + seconds):
        for turn in range(APPENDS_PER_S):
            at_s = second + turn / APPENDS_PER_S
            entries: list[Entry] = [
                Transaction(
                    at_s,
                    tuple(Change(STREAM, 1, row) for row in readings(gateway, second, at_s)),
                )
                for gateway in range(turn * per_append, (turn + 1) * per_append)
            ]
            if turn == 0:
                entries.insert(0, Tick(float(second)))
            position = log.append(entries)
            count = sum(len(e.changes) for e in entries if isinstance(e, Transaction))
            appends.append((position, time.time() * 1000, count))
            due_s = began_s + (second - first_s) + (turn + 1) / APPENDS_PER_S
            time.sleep(max(0.0, due_s - time.monotonic()))
    log.append([Tick(float(first_s + seconds))])
    return appends


if __name__ == "__main__":
    url, name, rate, seconds, first_s = sys.argv[1:]
    made = run(RedisLog(url, name, patience_s=20), int(rate), int(seconds), int(first_s))
    sys.stdout.write(json.dumps(made))
