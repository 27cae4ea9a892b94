"""Every golden file of borders 8 and 10 holds."""

from __future__ import annotations

import pytest
from golden import ends


@pytest.mark.parametrize("path", ends.paths(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_border_gives_what_the_file_says(path):
    assert ends.actual(path) == ends.split(path)[2], "run manage.py golden --update to accept"


def test_both_borders_have_cases():
    assert {path.parent.name for path in ends.paths()} == {"08_log", "10_live"}
