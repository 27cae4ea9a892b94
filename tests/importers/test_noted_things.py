"""What the notes of imports are about has a word in the catalogue, whichever note it is."""

from __future__ import annotations

import ast
from pathlib import Path

from django.utils.translation import override

from smartcis.importers.drawing import RISERS, RiserKind
from smartcis.noted_things import THINGS, thing

IMPORTERS = Path("smartcis/importers")


def trees():
    return [ast.parse(path.read_text(encoding="utf-8")) for path in IMPORTERS.rglob("*.py")]


def takers():
    """Returns functions that make notes of what they are told, and where they are told it."""
    found = {"Note": 1}
    for tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and "what" in (
                names := [one.arg for one in node.args.args]
            ):
                found[node.name] = names.index("what")
    return found


def noted():
    """Returns the words that notes are made with."""
    known = takers()
    for tree in trees():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if name in known and len(node.args) > known[name]:
                said = node.args[known[name]]
                if isinstance(said, ast.Constant):
                    yield said.value
                elif isinstance(said, ast.JoinedStr) and isinstance(said.values[-1], ast.Constant):
                    yield said.values[-1].value.strip()


def test_each_thing_has_a_word():
    found = {*noted(), *RISERS, *(kind.value for kind in RiserKind)}
    assert len(found) > 25
    assert found - THINGS.keys() == set()


def test_a_count_stays_and_a_files_own_word_too():
    with override("de"):
        assert thing("3 openings") == "3 Öffnungen"
        assert thing("way outdoors") == "Weg im Freien"
        assert thing("IfcDoor") == "IfcDoor"
        assert thing("") == ""
