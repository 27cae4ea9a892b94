"""What wrappers are given and hand over: their settings, and three kinds of batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
class Arrivals:
    """Rows of one stream.

    Args:
        key: as in `Readings`; empty where a repetition is harmless.
        relation: the stream.
        rows: in its column order.
    """

    key: str
    relation: str
    rows: Sequence[Row]


@dataclass(frozen=True, slots=True)
class Contents:
    """All rows of one table that the source holds now; what is no longer among them has gone.

    Args:
        relation: the table.
        rows: by a name that stays with a row while its values change.
    """

    relation: str
    rows: Mapping[str, Row]


Batch = Readings | Arrivals | Contents

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


def _forget(_refusal: MessageRefusal) -> None:
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
        refuse: keeps a message that cannot be used, for somebody to look at; raises LogAway.
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
    refuse: Callable[[MessageRefusal], None] = _forget
    reads: Callable[[], Mapping[str, Sequence[str]]] = dict
