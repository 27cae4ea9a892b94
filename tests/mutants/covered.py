"""Which tests reach which lines, and how long each takes: run once, before a campaign.

Usage: .venv/bin/python tests/mutants/covered.py PACKAGES FILE TESTS…
    PACKAGES: where coverage.py is installed; FILE: what is written, a database of coverage.py's,
    and beside it `FILE.json`, the seconds of each test.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

PRODUCT = ["aspen", "federation", "sensors_sim", "smartcis"]


class Reached:
    """Notes the lines that are run under the name of the test that runs them."""

    def __init__(self, coverage) -> None:
        self._coverage = coverage
        self.took_s: Counter[str] = Counter()
        self.failed: set[str] = set()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._coverage.switch_context(nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.took_s[report.nodeid] += report.duration
        if report.failed:
            self.failed.add(report.nodeid)


def main(packages: str, file: str, *tests: str) -> None:
    """Run tests and write which lines each of them reaches."""
    sys.path.append(packages)  # behind the product's own, which it leaves as they are
    coverage = import_module("coverage").Coverage(data_file=file, source=PRODUCT)
    reached = Reached(coverage)
    coverage.start()
    pytest.main([*tests], plugins=[reached])
    coverage.stop()
    coverage.save()
    took_s = {test: took_s for test, took_s in reached.took_s.items() if test not in reached.failed}
    Path(f"{file}.json").write_text(json.dumps(took_s))


if __name__ == "__main__":
    main(*sys.argv[1:])
