"""`manage.py bench` is a door: the benches stand under tests, and without them it says so."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command

from smartcis.management.commands import bench
from tests.bench.command import BENCHES


def test_a_bench_is_run_and_printed(monkeypatch, capsys):
    def slope(*, quick, say):
        say("half way")
        return {"bench": "slope", "figures": {"quick": quick}, "targets": []}

    monkeypatch.setitem(BENCHES, "slope", slope)
    call_command("bench", "slope", "--quick", "--json")
    assert json.loads(capsys.readouterr().out)["figures"] == {"quick": True}


def test_a_product_without_its_tests_says_what_to_do(monkeypatch):
    monkeypatch.setattr(bench, "BENCHES", "tests_that_are_not_installed.command")
    with pytest.raises(CommandError, match=r"smartcis\.evidence\.missing(.|\n)*try:"):
        call_command("bench", "slope")
