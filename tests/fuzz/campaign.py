"""The campaign of `manage.py bench fuzz`: every door in a process of its own, one after another."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.bench.report import Target, report

HOME = Path(__file__).resolve().parents[2]
INPUTS = 1_000_000
QUICK_INPUTS = 4_000
# Of a hundred inputs; where one costs more, there are fewer. The tests that run each door.
SHARES: Mapping[str, tuple[float, str]] = {
    "socket": (38.0, "breaks_its_reader and socket"),
    "connection": (2.0, "breaks_a_connection"),
    "mqtt": (30.0, "breaks_its_reader and mqtt"),
    "page": (12.0, "breaks_its_reader and page"),
    "text": (8.0, "breaks_its_reader and text"),
    "rest": (5.0, "breaks_the_server"),
    "calendar": (3.0, "breaks_its_reader and calendar"),
    "building_file": (2.0, "imports_nothing"),
}


def run(
    *,
    quick: bool = False,
    inputs: int | None = None,
    figure: str | None = None,
    seed: int = 1,
    say: Callable[[str], Any] = lambda _line: None,
) -> dict[str, Any]:
    """Fuzzes every door, or one.

    Args:
        inputs: of all doors together, or of the one; a million, or its share of one, when left out.
        figure: only this door.
        seed: draws the same inputs again.
        say: receives a line per door.
    """
    doors, wanted = {}, 0
    for name, (share, tests) in SHARES.items():
        if figure not in (None, name):
            continue
        of_all = round((inputs or (QUICK_INPUTS if quick else INPUTS)) * share / 100)
        here = inputs if figure and inputs else max(1, of_all)
        doors[name], wanted = _door(tests, here, seed), wanted + here
        say(f"{name}: {json.dumps(doors[name] | {'faults': list(doors[name]['faults'])})}")
    met = sum(one["inputs"] for one in doors.values())
    faults = sum(len(one["faults"]) for one in doors.values())
    slowest_cpu_s = max(one["slowest_cpu_s"] for one in doors.values())
    targets = [
        Target("inputs", met, wanted * 0.99, "", at_most=False),
        Target("kinds of fault", faults, 0, ""),
        Target("slowest input", slowest_cpu_s, 5.0, "s of processor time"),
    ]
    return report("fuzz", {"seed": seed, "doors": doors}, targets)


def _door(tests: str, inputs: int, seed: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "counts.json"
        command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider"]
        environment = os.environ | {
            "FUZZ_INPUTS": str(inputs),
            "FUZZ_SEED": str(seed),
            "FUZZ_REPORT": str(path),
            "SMARTCIS_LOG_LEVEL": "CRITICAL",
        }
        began = time.monotonic()
        ran = subprocess.run(
            [*command, "-o", "timeout=0", "tests/fuzz/test_doors.py", "-k", tests],
            cwd=HOME,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if not path.exists():
            raise RuntimeError(f"{tests}: {ran.stdout[-2_000:]}{ran.stderr[-2_000:]}")
        counts: dict[str, Any] = json.loads(path.read_text())
        return counts | {"with_start_s": round(time.monotonic() - began, 1)}
