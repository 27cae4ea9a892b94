"""Mutation campaign: wrong changes to the core, one at a time, and whether tests fail.

    files of `core.toml` ──► places of change ──sample──► a copy of the tree ──► tests of that line

A change is one of cosmic-ray's: another operator, comparison, number, a `not`, a loop not entered …
Of each place in a file at most one is drawn. Annotations are left alone: nothing evaluates them.
The tests of a line are those that reach it (`covered.py` asks coverage.py once, before the
changes), the quickest and most particular ones first, as many as fit into a budget of seconds.
The same seed draws the same changes of the same tree, and Hypothesis its examples.

Usage: .venv-mutants/bin/python tests/mutants/campaign.py --sample 400 --report var/mutants
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sysconfig
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
from coverage import CoverageData

ROOT = Path(__file__).resolve().parents[2]
CORE = Path(__file__).with_name("core.toml")
EQUIVALENT = Path(__file__).with_name("equivalent.toml")
PYTEST = (
    ".venv/bin/python -m pytest -x -q --no-header -p no:randomly -p no:cacheprovider"
    " -p no:schemathesis --hypothesis-seed=0"
)
SHARED = (".venv", "frontend/dist", "frontend/node_modules")
SKIPPED = ("core/ExceptionReplacer", "core/RemoveDecorator")  # as good as never a likely mistake
FAILED, INTERRUPTED, NOT_COLLECTED = 1, 2, 4  # pytest: tests fail, or cannot be imported
LIMIT_TIMES, LIMIT_PLUS_S = 1.5, 20.0  # of processor time, which a busy machine stretches little
WAITING_TIMES = 4.0  # and of the clock, for a change after which tests wait for ever


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

    @property
    def lines(self) -> tuple[str, str]:
        """What the changed lines were, and what they became."""
        sides = [
            " ".join(line[1:].strip() for line in self.diff.split("\n") if line.startswith(side))
            for side in "-+"
        ]
        return sides[0], sides[1]


class Reach:
    """Which tests reach which lines, and how long each takes.

    Args:
        folder: where `covered.py` has written databases and seconds.
        budget_s: how long the tests of one change may take without it, s.
    """

    def __init__(self, folder: Path, budget_s: float) -> None:
        self._budget_s = budget_s
        self.took_s: dict[str, float] = {}
        self._tests: dict[tuple[str, int], set[str]] = defaultdict(set)
        self._lines: Counter[str] = Counter()
        for file in sorted(folder.glob("*.json")):
            self.took_s |= json.loads(file.read_text())
            data = CoverageData(str(file.with_suffix("")))
            data.read()
            for path in data.measured_files():
                name = str(Path(path).relative_to(ROOT))
                for line, tests in data.contexts_by_lineno(path).items():
                    self._tests[name, line] |= set(tests)
                    self._lines.update(tests)

    def tests(self, path: str, line: int) -> list[str]:
        """Returns tests that reach the statement of a line, the best first.

        What is run by an import alone, such as a constant, is told by every test of the file.
        """
        found = self._of(path, statement(path, line)) or self._of(path, None)
        chosen, left_s = [], self._budget_s
        for test in sorted(found, key=lambda test: (self.took_s[test] + 0.05) * self._lines[test]):
            if self.took_s[test] <= left_s:
                left_s -= self.took_s[test]
                chosen.append(test)
        return chosen

    def _of(self, path: str, lines: range | None) -> set[str]:
        at = (key for key in self._tests if key[0] == path and (lines is None or key[1] in lines))
        return {test for key in at for test in self._tests[key] if test in self.took_s}


def statement(path: str, line: int) -> range:
    """Returns the lines of the smallest statement around a line; of a compound one, its head."""
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0):
            inner = getattr(node, "body", None) or [
                case.pattern for case in getattr(node, "cases", ())
            ]
            end = inner[0].lineno if inner else (node.end_lineno or line) + 1
            if line < max(end, node.lineno + 1):
                return range(node.lineno, max(end, node.lineno + 1))
    return range(line, line + 1)


def files(prefixes: list[str], only: str) -> list[str]:
    """Returns the files to be changed."""
    said = subprocess.run(
        ["git", "ls-files", "*.py"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return [
        path
        for path in said.stdout.split()
        if path.startswith((*prefixes,)) and path.startswith(only)
    ]


def cover(tests: list[list[str]], folder: Path) -> None:
    """Ask which tests reach which lines, one process for each list of tests."""
    folder.mkdir(parents=True)
    packages = sysconfig.get_paths()["purelib"]
    script, options = str(Path(__file__).with_name("covered.py")), shlex.split(PYTEST)[3:]
    running = [
        subprocess.Popen(
            [".venv/bin/python", script, packages, str(folder / str(number)), *options, *some],
            cwd=ROOT,
        )
        for number, some in enumerate(tests)
    ]
    for process in running:
        process.wait()


def inert(source: str) -> set[int]:
    """Returns the lines and columns, as line * 1_000 + column, that annotations cover."""
    covered: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        for name in ("annotation", "returns"):
            at = getattr(node, name, None)
            for line in range(at.lineno, at.end_lineno + 1) if at is not None else ():
                first = at.col_offset if line == at.lineno else 0
                behind = at.end_col_offset if line == at.end_lineno else 1_000
                covered |= {line * 1_000 + column for column in range(first, behind)}
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
            if line * 1_000 + column not in covered:
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
        names = self.folder / ".tests"
        names.write_text("\n".join(tests))
        env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        began = time.monotonic()
        process = subprocess.Popen(
            ["prlimit", f"--cpu={limit_s:.0f}:{limit_s + 5:.0f}", *shlex.split(PYTEST), "@.tests"],
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
        if process.returncode not in (0, FAILED, INTERRUPTED, NOT_COLLECTED):
            raise RuntimeError(f"pytest could not run {' '.join(tests)}\n{said[-500:]}")
        failed = [line for line in said.splitlines() if line.startswith(("FAILED", "ERROR"))]
        outcome = "survived" if process.returncode == 0 else "killed"
        return outcome, time.monotonic() - began, failed[0][:200] if failed else said[-200:]

    def try_out(self, mutation: Mutation, tests: list[str], limit_s: float) -> Found:
        """Make one wrong change, run the tests of its line, and take the change back."""
        path = self.folder / mutation.path
        source = path.read_text()
        operator = cosmic_ray.plugins.get_operator(mutation.operator)()
        changed = mutate_code(source, operator, mutation.occurrence)
        assert changed is not None, mutation
        diff = unified_diff(source.split("\n"), changed.split("\n"), n=0, lineterm="")
        try:
            path.write_text(changed)
            ran = self.run(tests, limit_s) if tests else ("survived", 0.0, "no test reaches it")
        finally:
            path.write_text(source)
        return Found(mutation, ran[0], round(ran[1], 1), ran[2], "\n".join(list(diff)[2:]))


class Equivalents:
    """Changes that no test can tell from the right code, and why; see `equivalent.toml`."""

    def __init__(self) -> None:
        said = tomllib.loads(EQUIVALENT.read_text())
        self._kinds = [(re.compile(kind["pattern"]), kind["why"]) for kind in said["kind"]]
        self._changes = {
            (change["path"], change["was"], change["now"]): change["why"]
            for change in said["change"]
        }

    def why(self, one: Found) -> str:
        """Returns why a change is equivalent; empty if nothing says so."""
        was, now = one.lines
        for pattern, why in self._kinds:
            if pattern.search(was) and pattern.sub("", was) == pattern.sub("", now):
                return why
        return self._changes.get((one.mutation.path, was, now), "")


def report(found: list[Found], equivalents: Equivalents) -> str:
    """Returns the campaign as a page of text: how many were killed where, and who survived.

    Equivalent changes that survive are counted apart: the share is of the others.
    """
    by_package: dict[str, Counter[str]] = defaultdict(Counter)
    standing: list[str] = []
    for one in sorted(found, key=lambda one: (one.mutation.path, one.mutation.line)):
        outcome = one.outcome
        if outcome == "survived":
            why = equivalents.why(one)
            outcome = "equivalent" if why else outcome
            standing += ["", f"{one.mutation.path}:{one.mutation.line} {one.mutation.operator}"]
            standing += ["```diff", one.diff, "```", *([f"Equivalent: {why}"] if why else [])]
        by_package["/".join(one.mutation.path.split("/")[:-1][:2])][outcome] += 1
        by_package["all"][outcome] += 1
    names = ("killed", "timed out", "survived", "equivalent")
    lines = [f"| package | {' | '.join(names)} | killed % |", "|---|---|---|---|---|---|"]
    for package, counts in sorted(by_package.items()):
        killed, late, alive, same = (counts[name] for name in names)
        share = 100 * (killed + late) / max(killed + late + alive, 1)
        lines.append(f"| {package} | {killed} | {late} | {alive} | {same} | {share:.1f} |")
    return "\n".join([*lines, *standing]) + "\n"


def main() -> None:
    """Run a campaign, or go on with one whose report has begun."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=int, default=400, help="how many changes")
    parser.add_argument("--seed", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", default="", help="prefix of the files to change")
    parser.add_argument("--budget-s", type=float, default=60, help="of the tests of one change")
    parser.add_argument("--again", action="store_true", help="try those that survived once more")
    parser.add_argument("--reach", type=Path, help="folder of an earlier look at the same tree")
    parser.add_argument("--report", type=Path, default=ROOT / "var/mutants")
    options = parser.parse_args()
    core = tomllib.loads(CORE.read_text())
    draw = random.Random(options.seed)
    changed = files(core["changed"], options.only)
    every = [one for path in changed for one in mutations(path, draw)]
    sample = draw.sample(every, min(options.sample, len(every)))
    print(f"{len(sample)} of {len(every)} places of change", flush=True)  # noqa: T201

    options.report.mkdir(parents=True, exist_ok=True)
    folder = options.reach or options.report / "reach"
    if not folder.exists():
        cover(core["tests"], folder)
    reach = Reach(folder, options.budget_s)
    book = options.report / f"seed{options.seed}.jsonl"
    written = book.read_text().splitlines() if book.exists() else []
    found = [*{one.mutation: one for one in map(_read, written)}.values()]  # the last word counts
    if options.again:
        found = [one for one in found if one.outcome != "survived"]
    known = {one.mutation for one in found}
    waiting = [one for one in sample if one not in known]
    writing, copies = threading.Lock(), Queue[Copy]()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        for number in range(options.jobs):
            copies.put(Copy(Path(folder) / str(number)))

        def work(mutation: Mutation) -> None:
            copy = copies.get()
            try:
                tests = reach.tests(mutation.path, mutation.line)
                alone_s = sum(reach.took_s[test] for test in tests)
                one = copy.try_out(mutation, tests, LIMIT_TIMES * alone_s + LIMIT_PLUS_S)
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
    text = report([one for one in found if one.mutation in set(sample)], Equivalents())
    (options.report / f"seed{options.seed}.md").write_text(text)
    print(text)  # noqa: T201


def _read(line: str) -> Found:
    said = json.loads(line)
    return Found(**{**said, "mutation": Mutation(**said["mutation"])})


if __name__ == "__main__":
    main()
