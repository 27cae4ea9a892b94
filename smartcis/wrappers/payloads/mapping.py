"""Mappings: one value of a message, found as an operator says."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from smartcis.json_text import BadJSON, decoded
from smartcis.wrappers.errors import BadBrokerMessage, BadConfig
from smartcis.wrappers.payloads.families import CHOICES, FIELDS
from smartcis.wrappers.payloads.fields import number
from smartcis.wrappers.payloads.paths import picked, read_path
from smartcis.wrappers.payloads.protocol import PAYLOAD_BYTES, Message
from smartcis.wrappers.payloads.times import count_s, moment_s
from smartcis.wrappers.payloads.topics import read_pattern
from smartcis.wrappers.protocol import Measured, PayloadMapping

TIME_FORMS = ("arrival", "iso", "s", "ms")
SID_LENGTH = 80
_PART = re.compile(r"\{([^{}]+)\}")


class FieldReader:
    """A mapping, checked and ready to read.

    Args:
        said: the mapping.

    Raises:
        BadConfig: what of it cannot be.
    """

    def __init__(self, said: PayloadMapping) -> None:
        self.said = said
        self.pattern = read_pattern(said.topic)
        if said.family not in dict(CHOICES):
            raise BadConfig("no such family", found=said.family, exists=list(dict(CHOICES)))
        self._path = read_path(said.path)
        self._time = read_path(said.time_path)
        if said.family == FIELDS:
            self._check()
        self._parts = {
            part: None if part in self.pattern.names else read_path(part)
            for part in _PART.findall(said.identity)
        }

    def _check(self) -> None:
        said = self.said
        if not said.kind or not said.identity:
            raise BadConfig(
                "a mapping of one value needs the kind of sensor and its id",
                found=said.topic,
                attempt="an id such as {device}.temperature",
            )
        if not all(map(math.isfinite, (said.scale, said.offset))) or said.scale == 0.0:
            raise BadConfig("scale and offset are finite, and the scale is not 0")
        if said.time_form not in TIME_FORMS:
            raise BadConfig("no such form of time", found=said.time_form, exists=TIME_FORMS)
        if (said.time_form == "arrival") != (not said.time_path):
            raise BadConfig("a time has a path and a form other than arrival, or neither")

    def read(self, message: Message) -> Sequence[Measured]:
        """Returns the value it finds, or none.

        Raises:
            BadJSON: the payload is no JSON, and the mapping looks into it.
            BadBrokerMessage: what it finds is no number, time or name.
        """
        levels = self.pattern.match(message.topic)
        if levels is None:
            return ()
        payload = self._payload(message)
        value = picked(payload, self._path)
        if value is None:
            return ()
        measured = number(value)
        if measured is None:
            raise BadBrokerMessage(
                f"{self.said.path or 'the payload'} is no number", found=repr(value)[:40]
            )
        sid = self._sid(levels, payload)
        result = measured * self.said.scale + self.said.offset
        at_s = self._at_s(payload)
        return (Measured(sid, self.said.kind, result, self.said.unit, at_s, "", sid),)

    def _payload(self, message: Message) -> Any:
        try:
            return decoded(message.data, PAYLOAD_BYTES)
        except BadJSON:
            if self._path or self._time or any(self._parts.values()):
                raise
            return message.data[:PAYLOAD_BYTES].decode(errors="replace")

    def _at_s(self, payload: Any) -> float | None:
        if self.said.time_form == "arrival":
            return None
        value = picked(payload, self._time)
        if self.said.time_form == "iso":
            at_s = moment_s(value)
        else:
            at_s = count_s(value, 1_000.0 if self.said.time_form == "ms" else 1.0)
        if at_s is None:
            raise BadBrokerMessage(
                f"{self.said.time_path} is no time of this form", found=repr(value)[:40]
            )
        return at_s

    def _sid(self, levels: Mapping[str, str], payload: Any) -> str:
        parts = {
            part: levels[part] if path is None else picked(payload, path)
            for part, path in self._parts.items()
        }
        for part, value in parts.items():
            if not isinstance(value, str | int) or value == "":
                raise BadBrokerMessage(f"{part} is no name", found=repr(value)[:40])
        sid = _PART.sub(lambda part: str(parts[part[1]]), self.said.identity)
        if len(sid) > SID_LENGTH or not sid.isprintable():
            raise BadBrokerMessage("the sensor's id is too long, or not printable", found=sid[:80])
        return sid
