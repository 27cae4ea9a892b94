"""Schemathesis's own program, all its phases, finds no failure in a running product.

Where it draws a text of StreamSQL, it draws one that means something (`schemathesis_hooks.py`).
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.rig import ROOT, running

pytestmark = pytest.mark.nightly
# What a description in JSON Schema cannot say: a value that fits it may still be refused (a room
# that is not there), and one that breaks it be of no consequence (an unknown header).
BEYOND = "positive_data_acceptance,negative_data_rejection"
EXAMPLES = 20
PATIENCE_S = 60


def test_no_phase_finds_a_failure(tmp_path):
    program = Path(sys.executable).parent / "st"
    with running("--building", "tests/importers/buildings/school.osm") as rig:
        done = subprocess.run(
            [
                *(program, "run", f"{rig.url}/api/schema/", "--no-color", "--continue-on-failure"),
                *("--header", f"Authorization: Token {rig.token}", "--exclude-checks", BEYOND),
                *("--phases", "examples,coverage,fuzzing,stateful"),
                *("--max-examples", str(EXAMPLES), "--suppress-health-check", "all"),
                *("--request-timeout", str(PATIENCE_S)),
            ],
            cwd=tmp_path,  # it keeps what it found
            env=os.environ
            | {"SCHEMATHESIS_HOOKS": "tests.api.schemathesis_hooks", "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout[-20_000:]
