"""Setting up without rights on a machine where something is missing: all of it is said at once."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "docker" / "setup.sh"
TOOLS = ("bash", "cat", "df", "dirname", "head", "ls", "printf", "sed", "tail", "tr")


def set_up(folder, purpose):
    """Runs the script in a checkout without anything, where only a few tools are to be found."""
    found = folder / "bin"
    found.mkdir()
    for tool in TOOLS:
        (found / tool).symlink_to(shutil.which(tool))
    (found / "id").write_text("#!/bin/sh\necho 1000\n")
    (found / "id").chmod(0o755)
    (folder / "docker").mkdir()
    shutil.copy(SCRIPT, folder / "docker" / "setup.sh")
    environment = {"PATH": str(found), "HOME": str(folder), "LANG": os.environ.get("LANG", "C")}
    return subprocess.run(
        [shutil.which("bash"), str(folder / "docker" / "setup.sh"), purpose],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("purpose", ["run", "test"])
def test_all_that_is_missing_is_named_at_once(tmp_path, purpose):
    done = set_up(tmp_path, purpose)
    assert done.returncode == 1
    assert "Python 3.11 or newer is missing" in done.stderr
    assert "Java 17 or newer is missing" in done.stderr
    (command,) = [line for line in done.stderr.splitlines() if "apt-get install" in line]
    assert {"python3", "python3-venv", "openjdk-17-jre-headless"} <= set(command.split())
    assert ("Chromium is missing" in done.stderr) == (purpose == "test")
    assert not (tmp_path / ".venv").exists()


def test_a_purpose_there_is_not_is_refused(tmp_path):
    done = set_up(tmp_path, "walk")
    assert (done.returncode, done.stderr) == (2, "run, test, peers or mutants, not walk\n")
