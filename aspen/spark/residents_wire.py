"""Frames between processes that ask each other for lanes: a header of JSON, then bytes.

    length of header │ header: JSON │ blobs, one after another

A `bytes` value in the header stands as {"@": its length}, and lies among the blobs. Entries are
as they are in the log, answers are the encoded text they become anyway. Nothing that could run
code travels.
"""

from __future__ import annotations

import json
import socket
import struct
from array import array
from collections.abc import Sequence
from typing import Any

_LENGTHS = struct.Struct("!IQ")  # of the header, of the blobs
_BLOB = "@"
_CHUNK = 1 << 20


class Broken(Exception):
    """The other side went away in the middle of a message, or speaks differently."""


def send(connection: socket.socket, message: dict[str, Any]) -> None:
    """Send one message of JSON values and bytes.

    Raises:
        OSError: the other side is gone.
    """
    blobs: list[bytes] = []

    def blob(value: object) -> dict[str, int]:
        if not isinstance(value, bytes):
            raise TypeError(f"{type(value).__name__} does not travel")
        blobs.append(value)
        return {_BLOB: len(value)}

    header = json.dumps(message, default=blob).encode()
    size = sum(map(len, blobs))
    connection.sendall(b"".join([_LENGTHS.pack(len(header), size), header, *blobs]))


def receive(connection: socket.socket) -> dict[str, Any]:
    """Receive one message.

    Raises:
        Broken: the other side ended before the message did, or it is none.
        OSError: the connection failed.
    """
    header_size, size = _LENGTHS.unpack(_exactly(connection, _LENGTHS.size))
    header = _exactly(connection, header_size)
    blobs = memoryview(_exactly(connection, size))
    taken = 0

    def value(found: dict[str, Any]) -> Any:
        nonlocal taken
        if found.keys() != {_BLOB}:
            return found
        begin, taken = taken, taken + int(found[_BLOB])
        return bytes(blobs[begin:taken])

    try:
        message = json.loads(header, object_hook=value)
    except (ValueError, TypeError) as error:
        raise Broken("not a header") from error
    if not isinstance(message, dict) or taken != size:
        raise Broken("header and blobs differ")
    return message


def pack_entries(entries: Sequence[tuple[int, bytes]]) -> dict[str, bytes]:
    """Pack entries into three blobs: many small ones in the header would be parsed one by one."""
    return {
        "positions": array("q", [position for position, _ in entries]).tobytes(),
        "sizes": array("q", [len(data) for _, data in entries]).tobytes(),
        "data": b"".join([data for _, data in entries]),
    }


def unpack_entries(packed: dict[str, bytes]) -> list[tuple[int, bytes]]:
    """Returns the entries `pack_entries` packed."""
    positions, sizes, data = array("q"), array("q"), packed["data"]
    positions.frombytes(packed["positions"])
    sizes.frombytes(packed["sizes"])
    out, begin = [], 0
    for position, size in zip(positions, sizes, strict=True):
        out.append((position, data[begin : begin + size]))
        begin += size
    return out


def _exactly(connection: socket.socket, size: int) -> bytearray:
    buffer = bytearray(size)
    view, got = memoryview(buffer), 0
    while got < size:
        count = connection.recv_into(view[got : got + _CHUNK])
        if not count:
            raise Broken(f"{got} of {size} bytes came")
        got += count
    return buffer
