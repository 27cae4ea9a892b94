"""`manage.py sqllogic FILE…`: run sqllogictest scripts against the engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from aspen.sqllogic.runner import ENGINE, Finding, Runner


class Command(BaseCommand):
    help = (
        "Run sqllogictest scripts against the engine: every query first as a view that is"
        " maintained while the data come, then over the data as they are."
    )
    requires_system_checks: list[str] = []  # noqa: RUF012  # Django's protocol

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", nargs="+", type=Path, help="scripts to run")
        parser.add_argument(
            "--engine", default=ENGINE, help="the name that skipif and onlyif compare with"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
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
                    self.stdout.write(_line(path, finding))
            if len(options["files"]) > 1:
                self.stdout.write(f"{path}: {report.summary}")
        self.stdout.write(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
        if counts["failed"]:
            raise CommandError(f"{counts['failed']} record(s) failed", returncode=1)


def _line(path: Path, finding: Finding) -> str:
    line = f"{path}:{finding.line}: {finding.outcome}: {finding.reason}"
    sql = " ".join(finding.sql.split())
    return f"{line}\n    {sql[:200]}" if finding.outcome == "failed" and sql else line
