"""The compose file: only Caddy is reached from outside, and its settings pass the check."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
import yaml
from django.core.management import get_commands

from smartcis.services.embedded_redis import COMMANDS_OFF
from smartcis.services.product import PROCESSES
from tests.smartcis.test_production import manage

FILE = Path(__file__).resolve().parents[2] / "docker" / "compose.yaml"
GIVEN = {
    "SMARTCIS_HOST": "map.example.org",
    "SMARTCIS_SECRET_KEY": "".join(map(chr, range(48, 100))).replace("\\", "/"),
    "POSTGRES_PASSWORD": "p",
    "REDIS_PASSWORD": "r",
}


@pytest.fixture(scope="module")
def compose():
    """The file as Docker reads it: variables filled in, `$$` a dollar."""
    text = FILE.read_text()
    filled = re.sub(r"(?<!\$)\$\{(\w+)(:\?[^}]*)?\}", lambda found: GIVEN[found[1]], text)
    return yaml.safe_load(filled.replace("$$", "$"))


def test_only_caddy_is_reached_from_outside(compose):
    services = compose["services"]
    assert [name for name, one in services.items() if "ports" in one] == ["caddy"]
    assert [name for name, one in services.items() if "front" in one.get("networks", ())] == [
        "caddy",
        "web",
    ]
    assert compose["networks"]["front"]["ipam"]["config"] == [
        {"subnet": services["web"]["environment"]["SMARTCIS_PROXIES"]}
    ]


def test_nothing_gains_privileges_and_nothing_but_caddy_is_root(compose):
    for name, service in compose["services"].items():
        assert service["security_opt"] == ["no-new-privileges:true"], name
        ours = service.get("image") == "smartcis"
        assert ours or "user" in service or name == "caddy", name
        assert not ours or service["cap_drop"] == ["ALL"], name
    assert "USER smartcis" in (FILE.parent / "Dockerfile").read_text()


def test_the_settings_pass_the_check_for_production(compose, tmp_path):
    environment = compose["services"]["web"]["environment"]
    done = manage(tmp_path, "check", "--deploy", "--fail-level", "WARNING", **environment)
    assert done.returncode == 0, done.stderr


def test_every_command_exists(compose):
    for service in compose["services"].values():
        words = str(service.get("command", "")).replace('"', " ").split()
        for before, after in itertools.pairwise(words):
            assert before != "manage.py" or after in get_commands()
            assert before != "--rename-command" or after in COMMANDS_OFF
        if "supervise" in words:
            assert set(words[words.index("supervise") + 1 :]) <= set(PROCESSES)
