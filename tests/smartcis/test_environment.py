"""The folder of everything that is written: closed to others, and never one that others need."""

from __future__ import annotations

import stat

import pytest
from django.core.exceptions import ImproperlyConfigured

from smartcis import environment
from smartcis.environment import broker_url, private_dir, secret_key, var_dir


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_folder_is_closed(tmp_path, monkeypatch):
    monkeypatch.setenv("SMARTCIS_VAR", str(tmp_path / "new"))
    assert mode(var_dir(tmp_path)) == 0o700


def test_a_folder_of_ours_that_stood_open_is_closed(tmp_path):
    secret_key(tmp_path)
    tmp_path.chmod(0o755)
    assert mode(private_dir(tmp_path)) == 0o700


@pytest.mark.parametrize("open_mode", [0o755, 0o1777])
def test_a_folder_of_others_is_left_alone(tmp_path, open_mode):
    (tmp_path / "somebody's").touch()
    tmp_path.chmod(open_mode)
    with pytest.raises(ImproperlyConfigured, match="SMARTCIS_VAR"):
        private_dir(tmp_path)
    assert mode(tmp_path) == open_mode


def test_celery_has_its_own_way_to_write_a_socket():
    assert broker_url("redis://:pw@host:1/0") == "redis://:pw@host:1/0"
    assert broker_url("unix:///a/b.sock?db=0") == "redis+socket:///a/b.sock?virtual_host=0"


@pytest.mark.parametrize(
    ("text", "host", "port", "tls", "ssl"),
    [
        ("smtp://mail.example.org", "mail.example.org", 587, True, False),
        ("smtps://a%40b:p%2Fq@mail.example.org:4650", "mail.example.org", 4650, False, True),
        ("smtp+plain://localhost", "localhost", 25, False, False),
    ],
)
def test_how_e_mail_is_sent_is_read(monkeypatch, text, host, port, tls, ssl):
    monkeypatch.setenv("MAIL", text)
    found = environment.email("MAIL")
    names = ("HOST", "PORT", "USE_TLS", "USE_SSL")
    assert [found[f"EMAIL_{name}"] for name in names] == [host, port, tls, ssl]
    if "@" in text:
        assert (found["EMAIL_HOST_USER"], found["EMAIL_HOST_PASSWORD"]) == ("a@b", "p/q")


def test_e_mail_is_off_until_it_is_set_up(monkeypatch):
    monkeypatch.delenv("MAIL", raising=False)
    assert environment.email("MAIL") == {}
    monkeypatch.setenv("MAIL", "off")
    assert environment.email("MAIL") == {}
    monkeypatch.setenv("MAIL", "mail.example.org")
    with pytest.raises(ImproperlyConfigured, match="MAIL takes off, console, smtp://host"):
        environment.email("MAIL")
