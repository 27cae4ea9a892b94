"""Base: what all wrappers are: a kind of source, set up by an operator, with a pulse.

    source ── wrapper ── batch ──> append ── log
                 └────── pulse ──> append ── source_heartbeat ──> view source_status

A wrapper knows neither tables nor the log: it calls `append`, and only when that has returned may
it tell its source that the data arrived.
"""

from __future__ import annotations

import abc
import random
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import structlog
from celery.exceptions import SoftTimeLimitExceeded

from aspen.errors import AspenError
from aspen.model.schema import Relation
from smartcis.catalog import CATALOG
from smartcis.wrappers.config import ConfigField, checked
from smartcis.wrappers.protocol import Append, Capability, Settings
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

    @abc.abstractmethod
    async def run(self, append: Append) -> None:
        """Delivers until cancelled; what fails on the way is retried and reported to the pulse."""


class Poller(Wrapper, abc.ABC):
    """A source that answers when asked."""

    warnings: Sequence[str] = ()

    @abc.abstractmethod
    def _read(self, append: Append, now_s: float) -> Sequence[str]:
        """Asks once; returns what of the answer cannot be used, a sentence each."""

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


def pause_s(failures: int, rng: random.Random, longest_s: float = LONGEST_PAUSE_S) -> float:
    """Returns the wait before the next attempt: doubling, at most `longest_s`, half of it chance.

    Chance keeps a crowd of readers from knocking at the same moment when a source comes back.
    """
    whole = min(FIRST_PAUSE_S * 2.0 ** min(failures, 16), longest_s)
    return whole * rng.uniform(0.5, 1.0)
