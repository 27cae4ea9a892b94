"""One action per file: its only public function has the file's name."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import smartcis.actions

FILES = sorted(
    path for path in Path(smartcis.actions.__path__[0]).glob("*.py") if path.stem != "__init__"
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_only_public_function_of_an_action_has_the_name_of_its_file(path):
    tree = ast.parse(path.read_text())
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert [name for name in functions if not name.startswith("_")] == [path.stem]
