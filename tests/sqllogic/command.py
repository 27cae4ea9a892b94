"""What `manage.py sqllogic` does: run scripts, print what did not pass, count."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from tests.sqllogic.runner import ENGINE, Finding, Runner


def add_arguments(parser: ArgumentParser) -> None:
    """Declares the command's arguments."""
    parser.add_argument("files", nargs="+", type=Path, help="scripts to run")
    parser.add_argument(
        "--engine", default=ENGINE, help="the name that skipif and onlyif compare with"
    )


def run(options: Mapping[str, Any], say: Callable[[str], Any]) -> int:
    """Runs scripts.

    Args:
        say: receives a line of what is printed.

    Returns:
        The number of records that failed.
    """
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for path in options["files"]:
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}") from error
        report = Runner(options["engine"]).run(text)
        for finding in report.findings:
            counts[finding.outcome] += 1
            if finding.outcome != "passed":
                say(_line(path, finding))
        if len(options["files"]) > 1:
            say(f"{path}: {report.summary}")
    say(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    return counts["failed"]


def _line(path: Path, finding: Finding) -> str:
    line = f"{path}:{finding.line}: {finding.outcome}: {finding.reason}"
    sql = " ".join(finding.sql.split())
    return f"{line}\n    {sql[:200]}" if finding.outcome == "failed" and sql else line
