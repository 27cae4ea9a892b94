"""The compose file: who is reached from outside, who is asked how he is, what it starts with."""

from __future__ import annotations

import itertools
import re

import pytest
from deployment import compose_file
from deployment.compose_file import FILE, GIVEN, ROOT
from django.core.management import get_commands

from smartcis.services.embedded_redis import COMMANDS_OFF
from smartcis.services.product import PROCESSES
from tests.smartcis.test_production import manage


@pytest.fixture(scope="module")
def compose():
    return compose_file.read()


def test_only_caddy_and_the_broker_are_reached_from_outside(compose):
    services = compose["services"]
    ports = {name: one["ports"] for name, one in services.items() if "ports" in one}
    assert set(ports) == {"caddy", "mosquitto"}
    assert ports["mosquitto"] == ["127.0.0.1:1883:1883", "8883:8883"]  # without TLS, with it
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
        for command in (str(service.get("command", "")), _asked(service)):
            words = command.replace('"', " ").split()
            for before, after in itertools.pairwise(words):
                assert before != "manage.py" or after in get_commands()
                assert before != "--rename-command" or after in COMMANDS_OFF
            for word in ("supervise", "smartcis.services.healthy"):
                if word in words:
                    assert set(words[words.index(word) + 1 :]) <= set(PROCESSES)


def test_whoever_goes_on_running_is_asked_how_he_is(compose):
    for name, service in compose["services"].items():
        assert _asked(service) or service["restart"] == "no", name


def test_a_supervisor_is_asked_for_all_it_supervises(compose):
    for service in compose["services"].values():
        found = re.search(r"supervise ([\w ]+)", str(service.get("command", "")))
        if found:
            assert _asked(service) == f"python -m smartcis.services.healthy {found[1].strip()}"


def test_nothing_is_imported_or_simulated_but_in_the_demo(compose):
    for name, service in compose["services"].items():
        brings = re.search("import_building|seed_building|simulat", str(service.get("command", "")))
        assert (service.get("profiles") == ["demo"]) == bool(brings), name


def test_all_that_is_set_stands_in_one_file():
    text = (FILE.parent / ".env.example").read_text()
    told = dict(re.findall(r"^(\w+)=(.*)$", text, re.MULTILINE))
    assert set(told) == compose_file.variables()
    assert {name for name in told if name.endswith(("KEY", "PASSWORD"))} == {
        name for name, value in told.items() if not value
    }
    assert set(GIVEN) <= set(told)
    for ignored in (".gitignore", ".dockerignore"):
        assert "docker/.env\n" in (ROOT / ignored).read_text()


def test_the_image_has_what_runs_and_no_tests():
    locked = {
        name: set(re.findall(r"^([\w.-]+==\S+)", (ROOT / name).read_text(), re.MULTILINE))
        for name in ("requirements.lock", "requirements-test.lock")
    }
    assert locked["requirements.lock"] < locked["requirements-test.lock"]
    assert not [one for one in locked["requirements.lock"] if one.startswith(("pytest", "mypy"))]
    assert "requirements-test" not in (FILE.parent / "Dockerfile").read_text()


def _asked(service):
    """Returns the command that asks a service how it is."""
    return str(service.get("healthcheck", {}).get("test", ""))
