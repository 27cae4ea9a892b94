"""Homes: a lane stays in the process it was born in; tasks that land elsewhere ask it there.

    worker 1 [ task of lane 1 ] ──ask──► worker 2 [ lane 1 ] ─► what the batch did
    worker 2 [ task of lane 0 ] ──ask──► worker 1 [ lane 0 ]

Socket:  one per lane, in a folder that only this user may enter; its name is derived from the
         lane's address. Whoever makes a lane puts its socket there instead of any other.
Refused: by an owner that is gone, or whose lane failed or stands elsewhere. The task then makes
         the lane itself, and is its owner from now on.
Even:    an owner of two lanes more than the asking process has gives one up, if that parts it
         from a neighbour: lanes of one process wait for each other, and Spark begins the tasks of
         neighbours together.
Travels: one message each way, in MessagePack: "apply these entries at this position", and what they
         did. The state store stays where it is, and nothing that could run code travels.
"""

from __future__ import annotations

import hashlib
import os
import socket
import struct
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgpack

from aspen.errors import as_aspen_error
from aspen.spark.residents import RESIDENT, LaneAddress, LaneWork, WorkDone, forget, perform
from aspen.spark.sockets import is_private

_VERSION = "2"
_LONGEST_PATH = 107
_NAME_LENGTH = len("/0123456789abcdef.4194304")  # with the process id while it is being made
_REQUEST_LIMIT_S = 30.0  # a whole request is there at once; an answer takes as long as it takes
_FAREWELL_LIMIT_S = 1.0  # an owner too busy to answer finds out by itself
_CREDENTIALS = struct.Struct("3i")  # pid, uid, gid

_CHUNK = 1 << 18  # what the kernel hands over at once, about
_BROKEN = (OSError, OverflowError, ValueError, msgpack.UnpackException)
"""The other side went away in the middle of a message, or one of them cannot be spelt."""

_HOMES: dict[LaneAddress, int] = {}
"""The inodes of this process's sockets: another one at the same path has taken the lane over."""

_CHANGING = threading.Lock()


def ask(folder: str, address: LaneAddress, work: LaneWork) -> WorkDone | None:
    """Let a lane that lives in another process do its work; None where that is not to be had."""
    path = _path(folder, address)
    if path is None or _lives_here(address, path):
        return None
    mine = sorted(_kept_here(address) - {address.lane})
    done = _exchange(path, ("work", mine, work))
    return None if done is None else WorkDone(*done)


def listen(folder: str, address: LaneAddress) -> None:
    """Let others ask for a lane of this process from now on, instead of whomever they asked."""
    path = _path(folder, address)
    with _CHANGING:
        if path is None or _lives_here(address, path) or not is_private(path.parent):
            return
        _exchange(path, ("leave", (), ()), _FAREWELL_LIMIT_S)
        home = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        # Whoever finds the socket at its address must find somebody behind it.
        ahead = path.with_suffix(f".{os.getpid()}")
        ahead.unlink(missing_ok=True)
        try:
            home.bind(str(ahead))
            home.listen()
            _HOMES[address] = ahead.stat().st_ino
            ahead.replace(path)
        except OSError:
            # A folder that goes away leaves lanes where they are: every task makes its own.
            home.close()
            return
    threading.Thread(
        target=_serve, args=(address, home), name=f"lane-{address.lane}", daemon=True
    ).start()


def _path(folder: str, address: LaneAddress) -> Path | None:
    if not folder or len(os.fsencode(folder)) + _NAME_LENGTH > _LONGEST_PATH:
        return None
    return Path(folder) / hashlib.sha256(repr((_VERSION, *address)).encode()).hexdigest()[:16]


def _kept_here(address: LaneAddress) -> set[int]:
    """Returns a lane and its fellows in this process, which other threads may change meanwhile."""
    kept = tuple(RESIDENT)
    return {other.lane for other in kept if other._replace(lane=address.lane) == address}


def _better_there(lane: int, here: set[int], there: set[int]) -> bool:
    """Whether a lane of this process should live in another one that has some."""
    neighbours = {lane - 1, lane + 1}
    return len(here) > len(there) + 1 and bool(neighbours & here) and not neighbours & there


def _lives_here(address: LaneAddress, path: Path) -> bool:
    try:
        return path.stat().st_ino == _HOMES.get(address)
    except OSError:
        return False


def _exchange(path: Path, message: Sequence[object], limit_s: float | None = None) -> Any:
    """Send a message to whoever listens and give the answer, None if there is none to be had."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(limit_s)
        try:
            connection.connect(str(path))
            if not _same_user(connection):
                return None
            connection.sendall(msgpack.packb(message))
            return receive(connection)
        except _BROKEN:
            return None


def receive(connection: socket.socket) -> Any:
    """Receive one message.

    Raises:
        UnpackException: the other side ended before the message did, or it is none.
        OSError: the connection failed.
    """
    with connection.makefile("rb", buffering=0) as stream:
        unlimited = {"max_buffer_size": 0, "read_size": _CHUNK}
        return msgpack.Unpacker(stream, use_list=False, **unlimited).unpack()


def _same_user(connection: socket.socket) -> bool:
    found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return bool(_CREDENTIALS.unpack(found)[1] == os.geteuid())


def _serve(address: LaneAddress, home: socket.socket) -> None:
    """Answer whoever asks for a lane, one after the other, until it is given up."""
    inode = _HOMES[address]
    with home:
        while _HOMES.get(address) == inode:
            connection, _ = home.accept()
            with connection:
                try:
                    connection.settimeout(_REQUEST_LIMIT_S)
                    if _same_user(connection):
                        message = receive(connection)
                        connection.settimeout(None)
                        connection.sendall(msgpack.packb(_answer(address, *message)))
                except _BROKEN:
                    # The asking task ended: if the lane went on, the next one finds it elsewhere.
                    continue


def _answer(
    address: LaneAddress, action: str, theirs: Sequence[int], work: Sequence[Any]
) -> WorkDone | None:
    if action == "leave" or _better_there(address.lane, _kept_here(address), set(theirs)):
        _give_up(address)
        return None
    resident = RESIDENT.get(address)
    try:
        return None if resident is None else perform(resident, LaneWork(*work))
    except Exception as error:  # noqa: BLE001  # whatever it is, the task will meet it itself
        as_aspen_error(error)
        _give_up(address)
        return None


def _give_up(address: LaneAddress) -> None:
    forget(address)
    _HOMES.pop(address, None)
