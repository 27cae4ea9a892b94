"""The campaign's table names files and tests that are there."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TABLE = tomllib.loads(Path(__file__).with_name("nearest.toml").read_text())


@pytest.mark.parametrize("distance", ["nearest", "wider"])
def test_every_row_names_what_is_there(distance):
    for prefix, tests in TABLE[distance].items():
        assert list(ROOT.glob(f"{prefix.rstrip('/')}*")), prefix
        for test in tests:
            assert (ROOT / test).exists(), (prefix, test)
