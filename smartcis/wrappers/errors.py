"""What can be wrong with a source, and with what it says."""

from __future__ import annotations

import re

from aspen.errors import AspenError

_NUMBER = re.compile(r"\[Errno -?\d+\] ")


def reason_of(error: Exception) -> str:
    """Returns an error's words without its number, its name where it has none."""
    return _NUMBER.sub("", str(error)).strip() or type(error).__name__


class SourceDown(AspenError):
    """A source that does not answer, or not with what it should be; what it said before stands."""

    code = "smartcis.wrappers.source_down"


class BadConfig(AspenError):
    """A source's settings that do not say what its kind needs."""

    code = "smartcis.wrappers.bad_config"


class BadBrokerMessage(AspenError):
    """A message that says nothing usable; it is dropped and named, the rest goes on."""

    code = "smartcis.wrappers.bad_message"


class BrokenEvent(AspenError):
    """A calendar event that cannot be read; it is left out and named, the others stay."""

    code = "smartcis.wrappers.broken_event"


class BadRow(AspenError):
    """A row of a page or table that does not fit its relation; it is left out and named."""

    code = "smartcis.wrappers.bad_row"


class LogAway(AspenError):
    """The log or the database could not be reached: try the same batch again later."""

    code = "smartcis.wrappers.log_away"
