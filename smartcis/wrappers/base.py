"""Base: what all wrappers are: a kind of source, set up by an operator, with a pulse.

    source ── wrapper ── batch ──> append ── log
                 └────── pulse ──> append ── source_heartbeat ──> view source_status

A wrapper knows neither tables nor the log: it calls `append`, and only when that has returned may
it tell its source that the data arrived.
"""

from __future__ import annotations

import abc
import asyncio
import random
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import structlog
from celery.exceptions import SoftTimeLimitExceeded

from aspen.errors import AspenError
from aspen.model.schema import Relation
from smartcis.catalog import CATALOG
from smartcis.readings.times import measured_s
from smartcis.wrappers.config import ConfigField, checked
from smartcis.wrappers.errors import BadBrokerMessage, LogAway
from smartcis.wrappers.payloads.protocol import Message
from smartcis.wrappers.protocol import (
    Append,
    Batch,
    Capability,
    Measurements,
    MessageRefusal,
    Readings,
    Settings,
)
from smartcis.wrappers.pulse import Pulse

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 30.0

logger = structlog.get_logger(__name__)


class Wrapper:
    """One source; one whose gateway calls this server needs no more than this.

    Law: a batch is repeated under its key until `append` has returned, or refused with a reason
    that stands in the pulse; never both acknowledged to the source and unknown to the log.

    Args:
        settings: how the operator set it up.
        clock: wall time, seconds since the epoch.

    A subclass says of its kind: the `key` that `Source.kind` stores, a `label` for people, the
    `fields` that set it up, the proposed `period_s` between two words of it, what it `feeds` by
    name, and its `capabilities`.
    """

    key: ClassVar[str]
    label: ClassVar[str]
    fields: ClassVar[tuple[ConfigField, ...]] = ()
    period_s: ClassVar[float] = 10.0
    feeds: ClassVar[tuple[str, ...]] = ()
    capabilities: ClassVar[tuple[Capability, ...]] = ()

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.time) -> None:
        self.settings = settings
        self.pulse = Pulse(settings.source, settings.period_s, settings.added_s or clock())
        self._clock = clock
        self._set_up(settings.config)

    def _set_up(self, config: Mapping[str, Any]) -> None:
        """Takes over the fields of its kind; raises BadConfig for what it cannot work with."""

    @property
    def relations(self) -> tuple[Relation, ...]:
        """What it feeds; columns carry types and units."""
        return tuple(CATALOG.get(name) for name in self.feeds)

    @classmethod
    def checked(cls, config: Mapping[str, Any]) -> dict[str, Any]:
        """Returns a config with every field, defaults filled in.

        Raises:
            BadConfig: an unknown, missing or malformed field.
        """
        return checked(cls.key, cls.fields, config)


class Listener(Wrapper, abc.ABC):
    """A source that speaks when it has something to say."""

    longest_pause_s: ClassVar[float] = LONGEST_PAUSE_S

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.time) -> None:
        self.appended = self.refused = 0
        self._random = random.Random()
        super().__init__(settings, clock)

    @abc.abstractmethod
    async def run(self, append: Append) -> None:
        """Delivers until cancelled; what fails on the way is retried and reported to the pulse."""

    async def _rest(self, failures: int) -> None:
        """Waits before the next attempt."""
        await asyncio.sleep(pause_s(failures, self._random, self.longest_pause_s))

    @abc.abstractmethod
    def _read(self, message: Message) -> Batch:
        """Returns what a message says.

        Raises:
            AspenError: nothing that can be used.
        """

    async def _deliver(self, message: Message, append: Append) -> None:
        """Appends what a message says, however long the log is away; keeps one that is refused."""
        failures = 0
        while True:
            try:
                await self._try(message, append)
            except LogAway as away:
                self.pulse.trouble(away.message)
                await self._rest(failures)
                failures += 1
            else:
                return

    async def _try(self, message: Message, append: Append) -> None:
        try:
            batch = self._read(message)
            if not isinstance(batch, Measurements) or batch.measured:
                await asyncio.to_thread(append, batch)
            newest_s = _newest_s(batch)
        except LogAway:
            raise
        except AspenError as fault:
            await self._refuse(message, fault)
        except Exception as error:  # unacknowledged, it would come for ever and hold up the others
            logger.exception("message broke its reader", topic=message.topic)
            broke = BadBrokerMessage(f"it broke its reader: {type(error).__name__}: {error}")
            await self._refuse(message, broke)
        else:
            self.appended += 1
            # By when it was measured: what the broker kept for hours is no sign of life.
            if newest_s is not None:
                self.pulse.heard(min(newest_s, self._clock()))

    async def _refuse(self, message: Message, fault: AspenError) -> None:
        """Keeps a message for somebody to look at, and may then forget it."""
        refusal = MessageRefusal(message.topic, message.data, fault)
        await asyncio.to_thread(self.settings.refuse, refusal)
        self.refused += 1
        self.pulse.trouble(f"message on {message.topic} refused: {fault.code}: {fault.message}")
        said = {"code": fault.code, "reason": fault.message, "found": fault.found}
        logger.warning("message refused", topic=message.topic, **said)


class Poller(Wrapper, abc.ABC):
    """A source that answers when asked."""

    warnings: Sequence[str] = ()

    @abc.abstractmethod
    def _read(self, append: Append, now_s: float) -> Sequence[str]:
        """Asks once; returns what of the answer cannot be used, a sentence each."""

    def _append(self, append: Append, batch: Batch) -> list[str]:
        """Appends what can be used of a batch; returns what cannot, a sentence each.

        Raises:
            LogAway: nothing is known to be appended.
        """
        try:
            append(batch)
        except LogAway:
            raise
        except AspenError as fault:
            return [f"{fault.code}: {fault.message} ({fault.found})"]
        return []

    def poll(self, append: Append) -> None:
        """Asks once.

        Raises:
            SourceDown: it did not answer, or not with what it should be; nothing was appended.
        """
        now_s = self._clock()
        self.warnings = self._read(append, now_s)
        more = f" (and {len(self.warnings) - 1} more)" if len(self.warnings) > 1 else ""
        self.pulse.heard(now_s, f"{self.warnings[0]}{more}" if self.warnings else "")

    def ask(self, append: Append) -> bool:
        """Polls once; a failure goes to the pulse.

        Returns:
            Whether the source answered.
        """
        try:
            self.poll(append)
        except AspenError as down:
            reason = f"{down.message} ({down.found})" if down.found else down.message
            logger.warning("source down", source=self.settings.source, reason=reason)
        except SoftTimeLimitExceeded:
            raise
        except Exception as error:  # whatever it said: it is down, not its reader
            reason = f"it broke its reader: {type(error).__name__}: {error}"
            logger.exception("source broke its reader", source=self.settings.source)
        else:
            return True
        self.pulse.trouble(reason)
        return False


def _newest_s(batch: Batch) -> float | None:
    """Returns when the newest value was measured, None where a message does not say."""
    match batch:
        case Readings(_, readings):
            return max(measured_s(one) for one in readings)
        case Measurements(_, measured, arrived_s, retained):
            usual_s = None if retained else arrived_s
            said = [usual_s if one.at_s is None else one.at_s for one in measured]
            return max((at_s for at_s in said if at_s is not None), default=usual_s)
    return None


def pause_s(failures: int, rng: random.Random, longest_s: float = LONGEST_PAUSE_S) -> float:
    """Returns the wait before the next attempt: doubling, at most `longest_s`, half of it chance.

    Chance keeps a crowd of readers from knocking at the same moment when a source comes back.
    """
    whole = min(FIRST_PAUSE_S * 2.0 ** min(failures, 16), longest_s)
    return whole * rng.uniform(0.5, 1.0)
