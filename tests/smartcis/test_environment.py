"""The folder of everything that is written: closed to others, and never one that others need."""

from __future__ import annotations

import stat

import pytest
from django.core.exceptions import ImproperlyConfigured

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
