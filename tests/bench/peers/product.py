"""`manage.py bench product`: from the append of a change to its reader, product beside product.

    ours        Redis log ─► Spark, one lane ─► results in Redis ─► a reader that waits for epochs
    Pathway     a pipe, or a table it polls ─► its dataflow ─► JSON lines ─► a reader of the file

Each deletes and inserts the same edges, one transaction at a time, and keeps which places reach
which. `bench peers` compares the engines alone; what is between them and a user is compared here.
Ours writes every change to a log that survives a crash, and Pathway's pipe forgets; its table does
not, and is polled. Of Pathway's answer the first line read may be the one that ends a commit: in
its favour.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import IO, Any

from aspen.algebra.explain import plan_text
from aspen.log.entry import Change, Declare, Register, Transaction
from aspen.streamsql import compile_query
from aspen.views.operators.support.strategies import AUTO
from tests.bench.engine_rig import engine_running
from tests.bench.peers.cases import QUERIES, Case, graph, make
from tests.bench.peers.engines import PATHWAY, PEERS_PYTHON, ROOT
from tests.bench.peers.ours import CATALOG, VIEW
from tests.bench.report import Target, report, spread

GRAPH, QUICK_GRAPH = "network 300 dense", "network 100 dense"
QUERY = "reachability"
CHANGES, QUICK_CHANGES = 40, 5
PATIENCE_S = 60.0
WAYS = {"pathway_pipe": "told by a pipe", "pathway_table": "polling a table"}

Edge = tuple[int, int, int]
Commit = Callable[[Sequence[tuple[Edge, int]], int], None]
"""Appends changes, and returns when a reader has the answer; also how many edges there are then."""

Wait = Callable[[int], None]
"""Returns when the answer over so many edges has been read."""


class NeverSeen(RuntimeError):
    """An answer that did not reach its reader in time."""


def run(*, quick: bool, say: Callable[[str], Any]) -> dict[str, Any]:
    """Compare; give the bench's JSON object."""
    case = make(QUICK_GRAPH if quick else GRAPH, QUERY, graph(QUICK_GRAPH if quick else GRAPH))
    assert case is not None
    figures: dict[str, Any] = {"case": case.name, "pathway": PATHWAY.missing or "0.33"}
    ways: dict[str, Callable[[], AbstractContextManager[Commit]]] = {"ours": ours}
    if not PATHWAY.missing:
        ways |= {"pathway_pipe": pipe, "pathway_table": table}
    for name, opened in ways.items():
        say(name)
        with opened() as commit:
            figures[name] = _taken(case, commit, QUICK_CHANGES if quick else CHANGES)
        say(f"  {figures[name]}")
    targets = [
        Target(f"{WAYS[way]}, deletion {what}: ours / Pathway", ratio, 1.0, "times")
        for way in ways
        if way in WAYS
        for what, ratio in _over(figures["ours"], figures[way]).items()
    ]
    return report("product", figures, targets)


def _over(mine: dict[str, Any], theirs: dict[str, Any]) -> dict[str, float]:
    return {
        what: round(mine["deletion_ms"][what] / theirs["deletion_ms"][what], 3)
        for what in ("p50", "p95")
    }


def _taken(case: Case, commit: Commit, changes: int) -> dict[str, Any]:
    edges = _once(case.tables["link"])
    began = time.perf_counter()
    commit([(edge, 1) for edge in edges], len(edges))
    load_s = time.perf_counter() - began
    taken: dict[int, list[float]] = {-1: [], 1: []}
    order = _once(case.order)[:changes]
    for edge in order:
        for weight, there in ((-1, len(edges) - 1), (1, len(edges))):
            began = time.perf_counter()
            commit([(edge, weight)], there)
            taken[weight].append(1e3 * (time.perf_counter() - began))
    return {
        "load_s": round(load_s, 3),
        "changes": len(order),
        "deletion_ms": spread(taken[-1]),
        "insertion_ms": spread(taken[1]),
    }


def _once(rows: Sequence[tuple[int, ...]]) -> list[Edge]:
    """Returns the edges without their lengths, once each."""
    return [*dict.fromkeys((row[0], row[1], 1) for row in rows)]


@contextmanager
def ours() -> Iterator[Commit]:
    """The engine as the product runs it, without the web."""
    compiled = compile_query(QUERIES[QUERY], CATALOG)
    with engine_running() as rig, closing(rig.log()) as log, closing(rig.results()) as results:
        view = Register(0.0, VIEW, plan_text(compiled.plan), AUTO)
        seen = log.append([Declare(0.0, CATALOG.get("link")), view])

        def read(position: int) -> None:
            def look() -> bool | None:
                return True if results.head()[1] >= position else None

            if results.wait_until(look, PATIENCE_S) is None:
                raise NeverSeen("ours")

        def commit(changes: Sequence[tuple[Edge, int]], there: int) -> None:
            del there
            before = results.head()[0]
            rows = tuple(Change("link", weight, edge) for edge, weight in changes)
            read(log.append([Transaction(0.0, rows)]))
            assert list(results.epochs_since(before, 0.0))

        read(seen)
        yield commit


@contextmanager
def pipe() -> Iterator[Commit]:
    """Pathway, told of each transaction on its standard input."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "answer.jsonl"
        with _pathway("pipe", output) as (told, read):

            def commit(changes: Sequence[tuple[Edge, int]], there: int) -> None:
                rows = [[*edge[:2], weight] for edge, weight in changes]
                told.write(json.dumps(rows) + "\n")
                told.flush()
                read(there)

            yield commit


@contextmanager
def table() -> Iterator[Commit]:
    """Pathway, which polls a table."""
    with tempfile.TemporaryDirectory() as folder:
        output, path = Path(folder) / "answer.jsonl", Path(folder) / "links.sqlite3"
        with closing(sqlite3.connect(path)) as base:
            base.execute("CREATE TABLE link (src INTEGER, dst INTEGER, PRIMARY KEY (src, dst))")
            base.commit()
            with _pathway("table", output, path) as (_, read):

                def commit(changes: Sequence[tuple[Edge, int]], there: int) -> None:
                    for (src, dst, _), weight in changes:
                        if weight > 0:
                            base.execute("INSERT INTO link VALUES (?, ?)", (src, dst))
                        else:
                            base.execute("DELETE FROM link WHERE src = ? AND dst = ?", (src, dst))
                    base.commit()
                    read(there)

                yield commit


@contextmanager
def _pathway(
    way: str, output: Path, *more: Path
) -> Iterator[tuple[IO[str], Callable[[int], None]]]:
    """Start Pathway; give its standard input, and what waits for the answer over so many edges."""
    command = [str(PEERS_PYTHON), "-m", "tests.bench.peers.pathway_product", way, str(output)]
    process = subprocess.Popen(
        [*command, *map(str, more)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
    )
    try:
        output.touch()
        assert process.stdin is not None
        with output.open(encoding="utf-8") as answer:
            yield process.stdin, _Reader(answer).until
    finally:
        process.kill()
        process.communicate()


class _Reader:
    """Follows a file of JSON lines."""

    def __init__(self, answer: IO[str]) -> None:
        self._answer = answer
        self._rest = ""

    def until(self, there: int) -> None:
        """Read until the answer over so many edges is there.

        Raises:
            NeverSeen: it is not, for too long.
        """
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            *lines, self._rest = (self._rest + self._answer.read()).split("\n")
            for line in lines:
                row = json.loads(line)
                if row["src"] == -there and row["diff"] > 0:
                    return
            time.sleep(0.0005)
        raise NeverSeen("Pathway")
