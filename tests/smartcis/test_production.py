"""A start where others reach the product: everything unsafe is named at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from smartcis.checks import production_faults

ROOT = Path(__file__).resolve().parents[2]
SAFE = {
    "SMARTCIS_SECURE": "1",
    "SMARTCIS_HOSTS": "map.example.org",
    "SMARTCIS_ORIGINS": "https://map.example.org",
    "SMARTCIS_PROXIES": "127.0.0.1",
}
VARIABLES = ("DATABASE_URL", "REDIS_URL", "SMARTCIS_DEBUG", *SAFE)


def manage(var, *words, **environment):
    own = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    return subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env=own | {"SMARTCIS_VAR": str(var)} | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_safe_set_up_has_nothing_to_be_said_against_it(tmp_path):
    done = manage(tmp_path, "check", "--deploy", "--fail-level", "WARNING", **SAFE)
    assert done.returncode == 0, done.stderr
    assert "no issues" in done.stdout + done.stderr


def test_all_that_is_unsafe_is_named_at_once(tmp_path):
    unsafe = {
        "SMARTCIS_DEBUG": "1",
        "SMARTCIS_VITE_DEV": "1",
        "SMARTCIS_SECRET_KEY": "secret",
        "SMARTCIS_HOSTS": "*",
        "SMARTCIS_ORIGINS": "http://map.example.org",
        "REDIS_URL": "redis://redis.example.org/0",
        "DATABASE_URL": "postgres://smartcis@db.example.org/smartcis",
    }
    done = manage(tmp_path, "serve", **unsafe)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    for name in (*unsafe, "SMARTCIS_SECURE"):
        assert f"- {name}" in done.stderr, name
    assert not (tmp_path / "redis").exists()


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("DEBUG", True, "SMARTCIS_DEBUG is on"),
        ("SECRET_KEY", "a" * 60, "SMARTCIS_SECRET_KEY is easily guessed"),
        ("WEBHOOK_SECRET", "abc", "SMARTCIS_WEBHOOK_SECRET is easily guessed"),
        ("SESSION_COOKIE_SECURE", False, "SMARTCIS_SECURE is off"),
        ("PROXIES", (), "SMARTCIS_PROXIES is empty"),
        ("ALLOWED_HOSTS", ["localhost"], "SMARTCIS_HOSTS has no name"),
        ("ALLOWED_HOSTS", ["*"], "SMARTCIS_HOSTS allows any name"),
        ("CSRF_TRUSTED_ORIGINS", ["http://a.example.org"], "SMARTCIS_ORIGINS trusts"),
        ("CORS_ALLOWED_ORIGINS", ["http://a.example.org"], "SMARTCIS_CORS trusts"),
        ("REDIS_URL", "redis://redis.example.org/0", "REDIS_URL leads"),
    ],
)
def test_each_fault_alone_is_named_alone(settings, name, value, said):
    settings.DEBUG = False
    settings.SECRET_KEY = settings.WEBHOOK_SECRET = "".join(map(chr, range(40, 100)))
    settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = True
    settings.SECURE_SSL_REDIRECT, settings.SECURE_HSTS_SECONDS = True, 1
    settings.PROXIES, settings.ALLOWED_HOSTS = ("127.0.0.1",), ["a.example.org"]
    assert production_faults() == []
    setattr(settings, name, value)
    (fault,) = production_faults()
    assert fault.startswith(said)


@pytest.mark.parametrize("command", ["staff_account", "simulate"])
def test_a_command_without_its_database_says_so(tmp_path, command):
    done = manage(tmp_path, command)
    assert done.returncode == 1
    assert "the database does not do what is needed: no such table" in done.stderr
    assert "Traceback" not in done.stderr
