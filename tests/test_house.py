"""The house rules that a machine can check."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = (
    "aspen",
    "aspen/algebra",
    "aspen/log",
    "aspen/overlog",
    "aspen/provenance",
    "aspen/results",
    "aspen/runtime",
    "aspen/spark",
    "aspen/sqllogic",
    "aspen/streamsql",
    "aspen/views",
    "federation",
    "frontend",
    "sensors_sim",
    "smartcis",
    "smartcis/api",
    "smartcis/importers",
    "smartcis/ingest",
    "smartcis/live",
    "smartcis/services",
    "smartcis/wrappers",
)
README_SECTIONS = ("Role", "Receives", "Gives", "Code map", "Invariants", "Decisions")
OPERATOR_HEAD = ("Law:", "Algorithm:", "State:", "Receives:", "Gives:", "Ends:")
JOURNEY = (
    "aspen.streamsql.parse",
    "bind",
    "aspen.algebra.build",
    "aspen.algebra.rewrite",
    "federation.optimize",
    "federation.split",
    "sensors_sim",
    "smartcis.ingest",
    "aspen.spark",
    "smartcis.live",
)


def tracked(*patterns: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", *patterns], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return [ROOT / line for line in listed.stdout.splitlines() if (ROOT / line).is_file()]


def test_no_module_is_longer_than_400_lines():
    long = {
        str(path.relative_to(ROOT)): count
        for path in tracked("*.py", "*.ts", "*.svelte")
        if "migrations" not in path.parts
        and (count := len(path.read_text(encoding="utf-8").splitlines())) > 400
    }
    assert long == {}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_explains_itself(package):
    text = (ROOT / package / "README.md").read_text(encoding="utf-8")
    missing = [title for title in README_SECTIONS if not re.search(rf"(?m)^#+ {title}", text)]
    assert missing == []


def test_every_operator_states_its_law():
    heads = {
        path.name: [label for label in OPERATOR_HEAD if label not in path.read_text("utf-8")]
        for path in tracked("aspen/views/operators/*.py")
        if path.name != "__init__.py"
    }
    assert heads, "no operators found"
    assert {name: missing for name, missing in heads.items() if missing} == {}


def test_every_standing_query_says_what_it_is_for():
    for path in tracked("smartcis/queries/*.streamsql"):
        lines = path.read_text(encoding="utf-8").splitlines()
        assert lines[0].startswith("-- "), path.name
        assert f"CREATE VIEW {path.stem} AS" in lines, path.name


def test_readme_names_the_ten_borders_in_order():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = text[text.index("## The journey") :]
    places = [table.index(f"`{name}`") for name in JOURNEY]
    assert places == sorted(places)


def test_nothing_names_a_registry_or_a_machine():
    forbidden = re.compile(
        "|".join(
            ["pypi" + r"\.org", "pythonhosted" + r"\.org", "registry" + r"\.npmjs", "/wo" + "rk/"]
        )
    )
    guilty = [
        str(path.relative_to(ROOT))
        for path in tracked()
        if path.suffix in {".py", ".md", ".toml", ".lock", ".json", ".ts", ".svelte", ".sh", ""}
        and path.stat().st_size < 2_000_000
        and forbidden.search(path.read_text(encoding="utf-8", errors="ignore"))
    ]
    assert guilty == []
