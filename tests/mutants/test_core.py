"""The campaign's table names what is there."""

from __future__ import annotations

import tomllib
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CORE = tomllib.loads(Path(__file__).with_name("core.toml").read_text())


@pytest.mark.parametrize("path", [*CORE["changed"], *chain(*CORE["tests"])])
def test_every_row_names_what_is_there(path):
    assert (ROOT / path).exists()
