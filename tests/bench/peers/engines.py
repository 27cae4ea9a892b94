"""Engines: which there are, and their processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[3]
PEERS_PYTHON = ROOT / ".venv-peers" / "bin" / "python"


@dataclass(frozen=True, slots=True)
class Engine:
    """One way to the answer.

    Args:
        module: of this package, run as a program.
        python: the interpreter of its environment.
        maintains: False where it computes anew after each change.
    """

    name: str
    module: str
    python: Path
    maintains: bool

    @property
    def missing(self) -> str:
        """Why it cannot run here, empty when it can."""
        if self.python.exists():
            return ""
        return f"{self.name} is not installed; `docker/setup.sh peers` does that"


OURS = Engine("ours", "ours", Path(sys.executable), maintains=True)
PATHWAY = Engine("pathway", "pathway_dataflow", PEERS_PYTHON, maintains=True)
DUCKDB = Engine("duckdb", "duckdb_recompute", Path(sys.executable), maintains=False)
NETWORKX = Engine("networkx", "networkx_recompute", Path(sys.executable), maintains=False)
ENGINES = (OURS, PATHWAY, DUCKDB, NETWORKX)


class Worker:
    """A process that measures one engine.

    Args:
        process: speaks the protocol of `worker.py`.
    """

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._to: IO[str] = process.stdin
        self._of: IO[str] = process.stdout

    def ask(self, **request: Any) -> dict[str, Any]:
        """Have one thing measured; `skipped` in the answer says why there is none."""
        self._to.write(json.dumps(request) + "\n")
        self._to.flush()
        answer: dict[str, Any] = json.loads(self._of.readline())
        return answer


@contextmanager
def working(engine: Engine) -> Iterator[Worker]:
    """Start an engine's process, end it afterwards."""
    process = subprocess.Popen(
        [str(engine.python), "-m", f"tests.bench.peers.{engine.module}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    try:
        worker = Worker(process)
        assert process.stdout is not None
        process.stdout.readline()
        yield worker
    finally:
        process.communicate()
