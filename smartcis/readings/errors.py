"""What can be wrong with a reading."""

from __future__ import annotations

from aspen.errors import AspenError


class BadReading(AspenError):
    """A reading that is not one: the whole batch is refused and nothing is appended."""

    code = "smartcis.ingest.bad_reading"


class UnknownSensor(BadReading):
    """No sensor of that id."""

    code = "smartcis.ingest.unknown_sensor"


class BadUnit(BadReading):
    """A unit the sensor's kind does not report in."""

    code = "smartcis.ingest.bad_unit"


class ImpossibleValue(BadReading):
    """Not a finite number, or outside what the kind can report."""

    code = "smartcis.ingest.bad_value"


class BadTime(BadReading):
    """A time without zone, in the future, or too long ago."""

    code = "smartcis.ingest.bad_time"
