"""What can be wrong with a source, and with what it says."""

from __future__ import annotations

import re

from aspen.errors import AspenError

_NUMBER = re.compile(r"\[Errno -?\d+\] ")


def reason_of(error: Exception) -> str:
    """Returns an error's words without its number, its name where it has none."""
    return _NUMBER.sub("", str(error)).strip() or type(error).__name__


class SourceDown(AspenError, code="smartcis.wrappers.source_down"):
    """A source that does not answer, or not with what it should be; what it said before stands."""


class BadConfig(AspenError, code="smartcis.wrappers.bad_config"):
    """A source's settings that do not say what its kind needs."""


class BadBrokerMessage(AspenError, code="smartcis.wrappers.bad_message"):
    """A message that broke its reader; it is kept and named, the rest goes on."""


class BrokenEvent(AspenError, code="smartcis.wrappers.broken_event"):
    """A calendar event that cannot be read; it is left out and named, the others stay."""


class BadRow(AspenError, code="smartcis.wrappers.bad_row"):
    """A row of a page or table that does not fit its relation; it is left out and named."""


class LogAway(AspenError, code="smartcis.wrappers.log_away"):
    """The log or the database could not be reached: try the same batch again later."""
