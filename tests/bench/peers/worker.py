"""Worker: measure one engine, one forked process per case and repetition.

    driver ──stdin──►  worker (has imported the engine)  ──fork──►  child: load, change, report
           ◄─stdout──                                    ◄──pipe──

Knows no engine and needs the standard library alone: it also runs in the environment of a peer.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol

Row = tuple[int, ...]
Digest = tuple[int, int]
Tables = dict[str, list[Row]]

WATCH_S = 0.02
WRAP = (1 << 61) - 1


class Session(Protocol):
    """One engine with one query."""

    def load(self) -> None:
        """Take in all rows; the answer is complete, and delivered, when this returns."""

    def change(self, relation: str, row: Row, weight: int) -> None:
        """Insert or delete one row; the new answer is complete when this returns."""

    def digest(self) -> Digest:
        """Returns the answer's number of rows and the sum of their hashes."""


Script = Callable[[Session], dict[str, Any]]
Drive = Callable[[dict[str, Any], bool, Script], dict[str, Any]]
"""Builds a session for a case (True: its answers will be asked for), gives it to the script."""


def digest_of(rows: Iterable[Row]) -> Digest:
    """Returns the digest of rows; hashes of tuples of numbers are the same in every process."""
    count = total = 0
    for row in rows:
        count += 1
        total += hash(row)
    return count, total % WRAP


def serve(drive: Drive) -> None:
    """Answer requests, one JSON object per line, until the input ends."""
    gc.collect()
    gc.freeze()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin:
        sys.stdout.write(_measured(drive, json.loads(line)) + "\n")
        sys.stdout.flush()


def _measured(drive: Drive, request: dict[str, Any]) -> str:
    """Run a request in a child; kill it when it takes too long or too much memory."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        try:
            os.dup2(2, 1)  # engines that print must not disturb the protocol
            answer = _run(drive, request)
        except Exception as error:  # noqa: BLE001 - whatever an engine dies of is its result
            answer = {"skipped": f"{type(error).__name__}: {error}"}
        os.write(writing, json.dumps(answer).encode())
        os._exit(0)
    os.close(writing)
    began = time.monotonic()
    reason = ""
    while not os.waitpid(child, os.WNOHANG)[0]:
        time.sleep(WATCH_S)
        if time.monotonic() - began > request["budget_s"]:
            reason = f"took more than {request['budget_s']} s"
        elif _memory(child)["VmRSS"] > request["budget_mib"] * 1024:
            reason = f"took more than {request['budget_mib']} MiB"
        if reason:
            os.kill(child, 9)
            os.waitpid(child, 0)
            break
    if time.monotonic() - began > request["budget_s"]:
        # Also one that ended between two looks.
        reason = f"took more than {request['budget_s']} s"
    with os.fdopen(reading) as pipe:
        answer_text = pipe.read()
    if reason or not answer_text:
        return json.dumps({"skipped": reason or "the engine's process died"})
    return answer_text


def _run(drive: Drive, request: dict[str, Any]) -> dict[str, Any]:
    case = json.loads(Path(request["case"]).read_text(encoding="utf-8"))
    case["tables"] = {name: [*map(tuple, rows)] for name, rows in case["tables"].items()}
    case["order"] = [tuple(row) for row in case["order"]]
    gc.collect()
    gc.freeze()
    # Peak memory starts at what the process has now.
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    start_kib = _memory("self")["VmRSS"]

    def timed(session: Session) -> dict[str, Any]:
        began, began_cpu = time.perf_counter(), time.process_time()
        session.load()
        found: dict[str, Any] = {
            "load_s": time.perf_counter() - began,
            "load_cpu_s": time.process_time() - began_cpu,
        }
        taken: dict[int, list[float]] = {-1: [], 1: []}
        cpu: dict[int, list[float]] = {-1: [], 1: []}
        until = time.perf_counter() + request["changes_s"]
        for row in case["order"][: request["changes"]]:
            if len(taken[1]) >= request["changes_at_least"] and time.perf_counter() > until:
                break
            for weight in (-1, 1):
                began, began_cpu = time.perf_counter(), time.process_time()
                session.change(case["changed"], row, weight)
                taken[weight].append(1e3 * (time.perf_counter() - began))
                cpu[weight].append(1e3 * (time.process_time() - began_cpu))
        return found | {
            "deletion_ms": taken[-1],
            "insertion_ms": taken[1],
            "deletion_cpu_ms": cpu[-1],
            "insertion_cpu_ms": cpu[1],
            "peak_mib": (_memory("self")["VmHWM"] - start_kib) / 1024,
        }

    def checked(session: Session) -> dict[str, Any]:
        session.load()
        digests = [session.digest()]
        for row in case["order"][: request["changes"]]:
            for weight in (-1, 1):
                session.change(case["changed"], row, weight)
                digests.append(session.digest())
        return {"digests": digests}

    check = request["mode"] == "check"
    return drive(case, check, checked if check else timed)


def _memory(process: int | str) -> dict[str, int]:
    """Returns the resident memory of a process and its peak, in KiB; zeros once it has ended."""
    found = {"VmRSS": 0, "VmHWM": 0}
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    except OSError:
        return found
    for line in status.splitlines():
        name, _, value = line.partition(":")
        if name in found:
            found[name] = int(value.split()[0])
    return found
