"""Against: one bench on this checkout and on another revision, in turns, and the ratios.

    round 1    before   now
    round 2    now      before        so that neither always has the warmer machine

Each runs its own tree's `manage.py bench NAME --quick --json` with this environment's packages.
Compared are the medians over the rounds: of the figures a target speaks of, above 1 is worse;
of every other number that both trees print, it is simply now over before.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from aspen.errors import AspenError
from tests.bench.report import report
from tests.bench.rig import ROOT

ROUNDS = 3
LINKED = (".venv", ".venv-peers", "frontend/node_modules")
"""What set-up installed: both trees use the same."""

Result = dict[str, Any]


class BenchFailed(AspenError):
    """A tree whose bench, or whose making, ended with an error."""

    code = "smartcis.bench.failed"


def run(
    name: str, revision: str, *, rounds: int, quick: bool, say: Callable[[str], Any]
) -> dict[str, Any]:
    """Measures both trees in turns; returns the JSON object of the comparison.

    Raises:
        BenchFailed: no such revision, or a bench that does not end well.
    """
    command = ["manage.py", "bench", name, "--json", *(["--quick"] if quick else [])]
    results: dict[str, list[Result]] = {"before": [], "now": []}
    with tree_of(revision) as other:
        trees = {"before": other, "now": ROOT}
        for number in range(rounds):
            for which in ("now", "before") if number % 2 else ("before", "now"):
                say(f"round {number + 1} of {rounds}, {which}: {name}")
                printed = _run([sys.executable, *command], trees[which])
                results[which].append(json.loads(printed))
    figures = {"against": revision, "rounds": rounds, **compared(**results)}
    return report(name, figures, [])


def compared(before: Sequence[Result], now: Sequence[Result]) -> dict[str, Any]:
    """Returns before, now and their ratio of every number that both print."""
    old, new = _medians(map(_targets, before)), _medians(map(_targets, now))
    sign = {one["name"]: one["at_most"] for result in now for one in result["targets"]}
    others = _medians(map(_numbers, before)), _medians(map(_numbers, now))
    return {
        "targets": {
            name: _ratio(old[name], new[name], at_most=sign[name]) for name in new if name in old
        },
        "numbers": {
            path: _ratio(others[0][path], value, at_most=True)
            for path, value in others[1].items()
            if path in others[0]
        },
    }


def lines(figures: Mapping[str, Any]) -> list[str]:
    """Returns a comparison as a table."""
    head = f"{'ratio':>8} {'before':>12} {'now':>12}"
    rows = [f"against {figures['against']}, medians of {figures['rounds']} rounds"]
    for part in ("targets", "numbers"):
        rows.append(f"{head}  {part}")
        for name, one in figures[part].items():
            ratio = "-" if one["ratio"] is None else f"{one['ratio']:.3f}"
            rows.append(f"{ratio:>8} {one['before']:>12.4g} {one['now']:>12.4g}  {name}")
    return rows


@contextmanager
def tree_of(revision: str) -> Iterator[Path]:
    """Checks a revision out beside this one, with its front end built; removes it at the end."""
    with tempfile.TemporaryDirectory(prefix="against-") as folder:
        tree = Path(folder).resolve() / "tree"
        _run(["git", "worktree", "add", "--quiet", "--detach", str(tree), revision], ROOT)
        try:
            for name in LINKED:
                if (ROOT / name).exists():
                    (tree / name).symlink_to((ROOT / name).resolve())
            if (tree / "frontend" / "node_modules").exists():
                _run(["npm", "run", "--silent", "build"], tree / "frontend")
            yield tree
        finally:
            _run(["git", "worktree", "remove", "--force", str(tree)], ROOT)


def _run(command: Sequence[str], folder: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": ""}  # each tree imports its own packages
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise BenchFailed(
            f"{' '.join(command)} ended with {done.returncode}",
            found=done.stderr.strip()[-2_000:],
            attempt=f"run it by hand in {folder.name}",
        )
    return done.stdout


def _targets(result: Result) -> dict[str, float]:
    return {one["name"]: one["value"] for one in result["targets"]}


def _numbers(result: Result) -> dict[str, float]:
    return dict(_leaves("", result["figures"]))


def _leaves(path: str, value: Any) -> Iterator[tuple[str, float]]:
    match value:
        case dict():
            for name, part in value.items():
                yield from _leaves(f"{path}.{name}" if path else name, part)
        case list():
            for index, part in enumerate(value):
                yield from _leaves(f"{path}[{index}]", part)
        case bool():
            return
        case int() | float():
            yield path, value


def _medians(results: Any) -> dict[str, float]:
    found = list(results)
    names = [name for name in found[0] if all(name in one for one in found)]
    return {name: median(one[name] for one in found) for name in names}


def _ratio(before: float, now: float, *, at_most: bool) -> dict[str, float | None]:
    over, under = (now, before) if at_most else (before, now)
    ratio = 1.0 if over == under else round(over / under, 3) if under else None
    return {"before": before, "now": now, "ratio": ratio}
