"""Mutation campaign: wrong changes to the core, one at a time, and whether tests fail.

    files of `nearest.toml` ──► places of change ──sample──► a copy of the tree ──► nearest tests
                                                                   survivors ──► wider tests

A change is one of cosmic-ray's: another operator, comparison, number, a `not`, a loop not entered …
Of each place in a file at most one is drawn. Annotations are left alone: nothing evaluates them.
The same seed draws the same changes of the same tree, and Hypothesis its examples.

Usage: .venv-mutants/bin/python tests/mutants/campaign.py --sample 400 --report var/mutants
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import tomllib
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from difflib import unified_diff
from pathlib import Path
from queue import Queue

import cosmic_ray.plugins
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code

ROOT = Path(__file__).resolve().parents[2]
NEAREST = Path(__file__).with_name("nearest.toml")
PYTEST = (
    ".venv/bin/python -m pytest -x -q --no-header -p no:randomly -p no:cacheprovider"
    " -p no:schemathesis --hypothesis-seed=0"
)
SHARED = (".venv", "frontend/dist", "frontend/node_modules")
SKIPPED = ("core/ExceptionReplacer", "core/RemoveDecorator")  # as good as never a likely mistake
FAILED, INTERRUPTED = 1, 2  # what pytest returns when tests fail, or a file cannot be imported
LIMIT_TIMES, LIMIT_PLUS_S = 4.0, 30.0  # of processor time, which a busy machine does not stretch
WAITING_TIMES = 20.0  # and of the clock, for a change after which tests wait for ever


@dataclass(frozen=True, slots=True)
class Mutation:
    """One wrong change.

    Args:
        occurrence: the operator's how manieth place in the file.
    """

    path: str
    operator: str
    occurrence: int
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Found:
    """What came of a change: killed, survived or timed out; by which test."""

    mutation: Mutation
    outcome: str
    took_s: float
    test: str
    diff: str


@dataclass(frozen=True, slots=True)
class Table:
    """Which tests lie nearest to which files, and which ones further away; longest prefix wins."""

    nearest: dict[str, list[str]]
    wider: dict[str, list[str]]

    def files(self, only: str) -> list[str]:
        """Returns the files to be changed."""
        said = subprocess.run(
            ["git", "ls-files", "*.py"], cwd=ROOT, check=True, capture_output=True, text=True
        )
        return [
            path
            for path in said.stdout.split()
            if path.startswith(only) and self._of(self.nearest, path)
        ]

    def tests(self, path: str) -> list[list[str]]:
        """Returns the tests of a file, the nearest ones first."""
        found = [self._of(self.nearest, path), self._of(self.wider, path)]
        return [tests for tests in found if tests]

    @staticmethod
    def _of(table: dict[str, list[str]], path: str) -> list[str]:
        matching = [prefix for prefix in table if path.startswith(prefix)]
        return table[max(matching, key=len)] if matching else []


def inert(source: str) -> set[int]:
    """Returns the lines and columns, as line * 1000 + column, that annotations cover."""
    covered: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        for name in ("annotation", "returns"):
            at = getattr(node, name, None)
            if at is not None:
                lines = range(at.lineno, at.end_lineno + 1)
                covered |= {line * 1000 + column for line in lines for column in range(200)}
                # Code before an annotation of one line, or behind it, is code.
                if at.lineno == at.end_lineno:
                    line = at.lineno * 1000
                    outside = {line + c for c in range(200) if not at.col_offset <= c}
                    outside |= {line + c for c in range(at.end_col_offset, 200)}
                    covered -= outside
    return covered


def mutations(path: str, draw: random.Random) -> list[Mutation]:
    """Returns one change for each place of a file that has any."""
    source = (ROOT / path).read_text()
    nodes, covered = list(ast_nodes(get_ast(source))), inert(source)
    at: dict[tuple[int, int], list[Mutation]] = defaultdict(list)
    for name in sorted(cosmic_ray.plugins.operator_names()):
        operator_class = cosmic_ray.plugins.get_operator(name)
        if name in SKIPPED or operator_class.arguments():
            continue
        operator = operator_class()
        positions = (start for node in nodes for start, _ in operator.mutation_positions(node))
        for occurrence, (line, column) in enumerate(positions):
            if line * 1000 + column not in covered:
                at[line, column].append(Mutation(path, name, occurrence, line, column))
    return [draw.choice(found) for _, found in sorted(at.items())]


class Copy:
    """A copy of the tree in which files are changed and tests run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        said = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True)
        for name in filter(None, said.stdout.decode().split("\0")):
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)
        for name in SHARED:
            if (ROOT / name).exists():
                (folder / name).symlink_to((ROOT / name).resolve())

    def run(self, tests: list[str], limit_s: float) -> tuple[str, float, str]:
        """Returns what came of some tests, how long they took, and which one failed."""
        memory = self.folder / ".hypothesis"
        shutil.rmtree(memory, ignore_errors=True)  # what an earlier change taught it
        env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        began = time.monotonic()
        process = subprocess.Popen(
            ["prlimit", f"--cpu={limit_s:.0f}:{limit_s + 5:.0f}", *shlex.split(PYTEST), *tests],
            cwd=self.folder,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            said, _ = process.communicate(timeout=WAITING_TIMES * limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return "timed out", time.monotonic() - began, ""
        if process.returncode == -signal.SIGXCPU:
            return "timed out", time.monotonic() - began, ""
        if process.returncode not in (0, FAILED, INTERRUPTED):
            raise RuntimeError(f"pytest could not run {' '.join(tests)}\n{said[-500:]}")
        failed = [line for line in said.splitlines() if line.startswith(("FAILED", "ERROR tests"))]
        outcome = "survived" if process.returncode == 0 else "killed"
        return outcome, time.monotonic() - began, failed[0][:200] if failed else said[-200:]

    def try_out(self, mutation: Mutation, tests: list[list[str]], limits: Limits) -> Found:
        """Make one wrong change, run the tests of its file, and take the change back."""
        path = self.folder / mutation.path
        source = path.read_text()
        operator = cosmic_ray.plugins.get_operator(mutation.operator)()
        changed = mutate_code(source, operator, mutation.occurrence)
        assert changed is not None, mutation
        diff = unified_diff(source.split("\n"), changed.split("\n"), n=0, lineterm="")
        took_s = 0.0
        for some in tests:
            limit_s = limits.of(self, some)
            try:
                path.write_text(changed)
                outcome, more_s, test = self.run(some, limit_s)
            finally:
                path.write_text(source)
            took_s += more_s
            if outcome != "survived":
                break
        return Found(mutation, outcome, round(took_s, 1), test, "\n".join(list(diff)[2:]))


class Limits:
    """How much processor time tests may take: a multiple of what they take without a change, s."""

    def __init__(self, fixed_s: float | None) -> None:
        self._fixed_s = fixed_s
        self._known: dict[str, float] = {}
        self._looking = threading.Lock()

    def of(self, copy: Copy, tests: list[str]) -> float:
        """Returns the limit of some tests; runs them in a copy without a change to find it.

        Raises:
            RuntimeError: they fail as the tree is, or there are none.
        """
        if self._fixed_s is not None:
            return self._fixed_s
        key = " ".join(tests)
        with self._looking:
            if key not in self._known:
                outcome, took_s, said = copy.run(tests, 3_600)
                if outcome != "survived":
                    raise RuntimeError(f"without any change these tests fail: {key}\n{said}")
                self._known[key] = LIMIT_TIMES * took_s + LIMIT_PLUS_S
                print(f"{took_s:6.1f} s  {key}", flush=True)  # noqa: T201
            return self._known[key]


def report(found: list[Found]) -> str:
    """Returns the campaign as a page of text: how many were killed where, and who survived."""
    by_package: dict[str, Counter[str]] = defaultdict(Counter)
    for one in found:
        by_package["/".join(one.mutation.path.split("/")[:2])][one.outcome] += 1
        by_package["all"][one.outcome] += 1
    lines = ["| package | killed | timed out | survived | killed % |", "|---|---|---|---|---|"]
    for package, counts in sorted(by_package.items()):
        killed, late, alive = (counts[name] for name in ("killed", "timed out", "survived"))
        share = 100 * (killed + late) / (killed + late + alive)
        lines.append(f"| {package} | {killed} | {late} | {alive} | {share:.1f} |")
    for one in sorted(found, key=lambda one: (one.mutation.path, one.mutation.line)):
        if one.outcome == "survived":
            lines += ["", f"{one.mutation.path}:{one.mutation.line} {one.mutation.operator}"]
            lines += ["```diff", one.diff, "```"]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run a campaign, or go on with one whose report has begun."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=int, default=400, help="how many changes")
    parser.add_argument("--seed", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", default="", help="prefix of the files to change")
    parser.add_argument(
        "--limit-s", type=float, help="of one run, for a tree known to be green; else measured"
    )
    parser.add_argument("--report", type=Path, default=ROOT / "var/mutants")
    options = parser.parse_args()
    table = Table(**tomllib.loads(NEAREST.read_text()))
    draw = random.Random(options.seed)
    every = [one for path in table.files(options.only) for one in mutations(path, draw)]
    sample = draw.sample(every, min(options.sample, len(every)))
    print(f"{len(sample)} of {len(every)} places of change", flush=True)  # noqa: T201

    options.report.mkdir(parents=True, exist_ok=True)
    book = options.report / f"seed{options.seed}.jsonl"
    found = [_read(line) for line in book.read_text().splitlines()] if book.exists() else []
    known = {one.mutation for one in found}
    waiting = [one for one in sample if one not in known]
    writing, copies, limits = threading.Lock(), Queue[Copy](), Limits(options.limit_s)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        for number in range(options.jobs):
            copies.put(Copy(Path(folder) / str(number)))

        def work(mutation: Mutation) -> None:
            copy = copies.get()
            try:
                one = copy.try_out(mutation, table.tests(mutation.path), limits)
            finally:
                copies.put(copy)
            with writing:
                found.append(one)
                with book.open("a") as file:
                    file.write(json.dumps(asdict(one)) + "\n")
                at = f"{mutation.path}:{mutation.line}"
                print(f"{len(found):4d} {one.outcome:9s} {one.took_s:6.1f} s  {at}", flush=True)  # noqa: T201

        with ThreadPoolExecutor(options.jobs) as pool:
            list(pool.map(work, waiting))
    text = report([one for one in found if one.mutation in set(sample)])
    (options.report / f"seed{options.seed}.md").write_text(text)
    print(text)  # noqa: T201


def _read(line: str) -> Found:
    said = json.loads(line)
    return Found(**{**said, "mutation": Mutation(**said["mutation"])})


if __name__ == "__main__":
    main()
