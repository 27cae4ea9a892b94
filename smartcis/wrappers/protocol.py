"""What wrappers are given and hand over: their settings, and batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from aspen.errors import AspenError
from aspen.model.schema import Row


class Capability(Enum):
    """What a source can do for a query besides delivering everything."""

    PUSH = "push"  # speaks when it has something to say
    POLL = "poll"  # answers when asked
    FILTER = "filter"  # can leave rows out by a predicate
    SAMPLE = "sample"  # can report at a chosen rate


@dataclass(frozen=True, slots=True)
class Readings:
    """Readings of known sensors, as the REST API takes them: all are appended or none.

    Args:
        key: identity of the message they came in: the same key is appended once.
        readings: mappings `{sid, value, unit, at | at_s, tag?}`.
    """

    key: str
    readings: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Measured:
    """One quantity that a device measured.

    Args:
        device: as its family knows it; stays with the device.
        quantity: the key of a kind of sensor; empty for that of the sensor named by `sid`.
        unit: of the value, empty for the kind's own.
        at_s: when it was measured; None where the message does not say.
        name: the device's, for people; empty where it has none.
        sid: the sensor's, where the message or a mapping says it.
    """

    device: str
    quantity: str
    value: float
    unit: str = ""
    at_s: float | None = None
    name: str = ""
    sid: str = ""


@dataclass(frozen=True, slots=True)
class Measurements:
    """What devices of a source measured, whether anybody has placed them or not.

    Args:
        key: as in `Readings`.
        measured: what the message said.
        arrived_s: when it came, seconds since the epoch.
        retained: whether the broker had kept it; what says no time is then of no known age.
    """

    key: str
    measured: Sequence[Measured]
    arrived_s: float
    retained: bool = False


@dataclass(frozen=True, slots=True)
class StreamRows:
    """Rows of one stream.

    Args:
        key: as in `Readings`; empty where a repetition is harmless.
        relation: the stream.
        rows: in its column order.
        digest: of what was sent under the key, if it may stand for nothing else.
    """

    key: str
    relation: str
    rows: Sequence[Row]
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Contents:
    """All rows of one table that the source holds now; what is no longer among them has gone.

    Args:
        relation: the table.
        rows: by a name that stays with a row while its values change.
    """

    relation: str
    rows: Mapping[str, Row]


@dataclass(frozen=True, slots=True)
class Changed:
    """What of a table changed since the source was read last.

    Args:
        relation: the table.
        rows: new ones, and those with other values, by the names of `Contents`.
        gone: names of rows that cannot be used any more.
        count: how many rows the source holds now.
        keys: gives the names of all of them; asked where another number is kept here.
    """

    relation: str
    rows: Mapping[str, Row]
    gone: AbstractSet[str]
    count: int
    keys: Callable[[], AbstractSet[str]]


Batch = Readings | Measurements | StreamRows | Contents | Changed

Append = Callable[[Batch], int]
"""Hands a batch over; gives how many rows changed. It has not arrived if this raises."""


@dataclass(frozen=True, slots=True)
class MessageRefusal:
    """A message that cannot be used; its source is told that it arrived.

    Args:
        topic: of the broker it came from.
        data: the message.
        fault: what is wrong with it.
    """

    topic: str
    data: bytes
    fault: AspenError


@dataclass(frozen=True, slots=True)
class HeardMessage:
    """One message of a broker.

    Args:
        topic: where it was published.
        data: its payload.
        at_s: when it arrived, seconds since the epoch.
        retained: whether the broker had kept it: it is of unknown age.
    """

    topic: str
    data: bytes
    at_s: float
    retained: bool = False


@dataclass(frozen=True, slots=True)
class PayloadMapping:
    """How messages of some topics are read.

    Args:
        topic: a filter whose single levels may have names: `site/{room}/state`.
        family: whose payloads they are; `fields` for one value, found as the following say.
        path: into the JSON; empty where the payload is the number.
        kind: of the sensor.
        unit: of the value; empty for the kind's own.
        scale: what the value is multiplied with.
        offset: what is added afterwards.
        identity: the sensor's id, with names of levels and paths in braces.
        time_path: where the time of measurement stands.
        time_form: `iso`, `s`, `ms`, or `arrival` for none.
    """

    topic: str
    family: str = "fields"
    path: str = ""
    kind: str = ""
    unit: str = ""
    scale: float = 1.0
    offset: float = 0.0
    identity: str = ""
    time_path: str = ""
    time_form: str = "arrival"


def _forget(_message: object) -> None:
    """Keeps nothing: nobody looks."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How an operator set a source up.

    Args:
        source: its id.
        config: by field name, checked against its kind's fields.
        period_s: expected seconds between two words of it.
        rid: the room it speaks for, empty for none.
        mid: the machine it speaks for, empty for none.
        added_s: when it was added, seconds since the epoch.
        client_id: how it introduces itself: the same for ever, and for no other source.
        folder: where files it may name lie.
        memory: what the wrapper left there the last time, to take up again; JSON.
        mappings: how messages of some topics are read.
        refuse: keeps a message that cannot be used, for somebody to look at; raises LogAway.
        heard: told of each message: topic, payload, when it came, whether it was retained.
        reads: gives what each maintained view reads, by its name.
    """

    source: str
    config: Mapping[str, Any]
    period_s: float
    rid: str = ""
    mid: str = ""
    added_s: float = 0.0
    client_id: str = ""
    folder: Path = Path()
    memory: dict[str, Any] = field(default_factory=dict)
    mappings: tuple[PayloadMapping, ...] = ()
    refuse: Callable[[MessageRefusal], None] = _forget
    heard: Callable[[HeardMessage], None] = _forget
    reads: Callable[[], Mapping[str, Sequence[str]]] = dict
