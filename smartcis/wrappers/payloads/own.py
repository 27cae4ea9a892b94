"""Our own payloads: one reading or a list of them, as the REST API takes them, all or none."""

from __future__ import annotations

import hashlib

from smartcis.json_text import decoded
from smartcis.wrappers.payloads.protocol import PAYLOAD_BYTES
from smartcis.wrappers.protocol import Readings


def readings_of(topic: str, data: bytes) -> Readings:
    """Reads a message: one reading, or a list of them, as JSON.

    Raises:
        BadJSON: it is no such thing.
    """
    said = decoded(data, PAYLOAD_BYTES)
    readings = said if isinstance(said, list) else [said]
    return Readings(hashlib.sha256(topic.encode() + b"\0" + data).hexdigest()[:40], readings)
