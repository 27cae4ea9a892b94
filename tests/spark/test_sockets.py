"""Where sockets lie: an engine works wherever its folder is, whatever the folder is called."""

from __future__ import annotations

import json
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from spark import product
from spark.test_engine import ENVIRONMENT, HERE

from aspen.spark import sockets
from aspen.spark.sockets import empty_folder, is_private, socket_folder


@pytest.mark.parametrize(
    "name",
    ["SmartCIS", "Gebäude", "İstanbul", "x" * 60],
    ids=["capital", "umlaut", "dotted", "deep"],
)
def test_a_folder_whose_path_spark_would_not_keep_is_replaced(name):
    scratch = Path("/srv") / name / "spark-tmp"
    found = str(socket_folder(scratch))
    assert found.isascii()
    assert found == found.lower()
    assert len(found) <= 60
    assert found != str(socket_folder(scratch / "another"))


def test_a_short_plain_folder_keeps_its_sockets():
    assert socket_folder(Path("/srv/my house/spark-tmp")) == Path("/srv/my house/spark-tmp/sockets")


def test_temporary_folders_with_capitals_are_passed_over(monkeypatch):
    monkeypatch.setattr(sockets.tempfile, "gettempdir", lambda: "/var/folders/T")
    assert str(socket_folder(Path("/srv/SmartCIS"))).startswith("/tmp/aspen-")


def test_only_its_user_enters_the_folder(tmp_path):
    folder = tmp_path / "sockets"
    (folder / "left").mkdir(parents=True)
    folder.chmod(0o755)
    assert not is_private(folder)
    empty_folder(folder)
    assert is_private(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert not list(folder.iterdir())


@pytest.mark.spark
def test_an_engine_starts_below_capitals_spaces_and_umlauts(config, feed, results, tmp_path):
    home = Path(tempfile.mkdtemp(prefix="Haus Ö "))  # short, or its depth alone would move sockets
    try:
        shutil.copytree(HERE.parents[1] / "aspen", home / "aspen")
        shutil.copytree(HERE, home / "spark")
        program = tmp_path / "config.json"
        program.write_text(json.dumps([config.log_url, config.log_name, str(home / "var" / "C")]))
        driver = subprocess.Popen(
            [sys.executable, str(home / "spark" / "driver.py"), str(program)],
            env={**ENVIRONMENT, "PYTHONPATH": str(home)},
            cwd=home,
            start_new_session=True,
        )
        try:
            feed.more(10)
            product.check(feed, results)
        finally:
            driver.send_signal(signal.SIGTERM)
            driver.wait(60)
    finally:
        shutil.rmtree(home)


@pytest.mark.spark
def test_what_the_jvm_unpacks_lies_where_the_next_session_cleans_up(session):
    scratch = Path(session.conf.get("spark.local.dir"))
    unpacked = session._jvm.java.lang.System.getProperty("java.io.tmpdir")
    assert Path(unpacked) == socket_folder(scratch)
