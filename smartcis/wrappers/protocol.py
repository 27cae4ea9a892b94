"""The Protocol of all wrappers: what a source declares, what it hands over, how it is.

    source ── wrapper ── batch ──> append ── log
                 └────── pulse ──> append ── source_heartbeat ──> view source_status

A wrapper knows neither tables nor the log: it calls `append`, and only when that has returned may
it tell its source that the data arrived.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, Protocol

from aspen.model.schema import Relation, Row
from smartcis.wrappers.pulse import Health, Pulse


class Capability(Enum):
    """What a source can do for a query besides delivering everything."""

    PUSH = "push"  # speaks when it has something to say
    POLL = "poll"  # answers when asked
    FILTER = "filter"  # can leave rows out by a predicate
    SAMPLE = "sample"  # can report at a chosen rate


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a source says of itself before it delivers anything.

    Args:
        source: its id.
        relations: what it feeds; columns carry types and units.
        period_s: expected seconds between two words of it.
        capabilities: what it can do.
    """

    source: str
    relations: tuple[Relation, ...]
    period_s: float
    capabilities: frozenset[Capability]


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
    reads: Callable[[], Mapping[str, Sequence[str]]] = dict


class Wrapper(Protocol):
    """One source.

    Law: a batch is repeated under its key until `append` has returned, or refused with a reason
    that stands in the pulse; never both acknowledged to the source and unknown to the log.

    Args:
        pulse: when the source was heard last, and what is wrong with it.
    """

    pulse: Pulse

    @property
    def declaration(self) -> Declaration:
        """Returns what the source feeds, how often, and what it can do."""
        ...

    def health(self, now_s: float) -> Health:
        """Returns live, late or dead, since when and why."""
        ...

    async def run(self, append: Append) -> None:
        """Delivers until cancelled; what fails on the way is retried and reported to the pulse."""
        ...


class Poller(Wrapper, Protocol):
    """A source that answers when asked."""

    def poll(self, append: Append) -> None:
        """Asks once.

        Raises:
            SourceDown: it did not answer, or not with what it should be; nothing was appended.
        """
        ...
