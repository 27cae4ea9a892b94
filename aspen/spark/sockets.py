"""The folder of an engine's sockets: between Spark's JVM and its Python workers, and between those.

    /srv/house/var/spark-tmp         → /srv/house/var/spark-tmp/sockets
    /srv/SmartCIS/var/spark-tmp      → /tmp/aspen-1000-5e884898da280471

PySpark 4.3's workers lower-case the path of the state server's socket, a JVM in the locale C
cannot spell other letters than ASCII's, and a socket's path holds 107 bytes: where the engine's
own folder would not survive that, a private one among the temporary files is used instead.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import tempfile
from pathlib import Path

_LONGEST = 60  # Spark adds a name of up to 46 bytes


def socket_folder(scratch: Path) -> Path:
    """Returns where the sockets of the engine with this scratch folder lie; makes nothing.

    Raises:
        OSError: no temporary folder has a path that Spark leaves as it is.
    """
    own = scratch.resolve() / "sockets"
    if _survives(own):
        return own
    short = hashlib.sha256(os.fsencode(own)).hexdigest()[:16]
    name = f"aspen-{os.geteuid()}-{short}"
    for temporary in (tempfile.gettempdir(), "/tmp", "/var/tmp"):  # noqa: S108 - made 0700 below
        folder = Path(temporary).resolve() / name
        if _survives(folder) and folder.parent.is_dir():
            return folder
    raise OSError(f"set TMPDIR to a short path of lower-case letters, not {temporary}")


def empty_folder(folder: Path) -> None:
    """Make a socket folder anew, without what a killed predecessor left in it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700, parents=True)


def is_private(folder: Path) -> bool:
    """Whether a folder is there, or was made, that only this user may enter."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return False
    own = found.st_uid == os.geteuid() and not stat.S_IMODE(found.st_mode) & 0o077
    return own and stat.S_ISDIR(found.st_mode)


def _survives(folder: Path) -> bool:
    path = str(folder)
    return path.isascii() and path == path.lower() and len(path) <= _LONGEST
