"""Every golden file of border 9 holds."""

from __future__ import annotations

import pytest
from golden import lanes


@pytest.mark.parametrize("path", lanes.paths(), ids=lambda path: path.stem)
def test_the_border_gives_what_the_file_says(path):
    assert lanes.actual(path) == lanes.split(path)[2], "run manage.py golden --update to accept"


def test_the_border_has_cases():
    assert lanes.paths()
