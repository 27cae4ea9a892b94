"""What can be wrong with a reading."""

from __future__ import annotations

from aspen.errors import AspenError


class BadReading(AspenError, code="smartcis.ingest.bad_reading"):
    """A reading that is not one: the whole batch is refused and nothing is appended."""


class UnknownSensor(BadReading, code="smartcis.ingest.unknown_sensor"):
    """No sensor of that id."""


class BadUnit(BadReading, code="smartcis.ingest.bad_unit"):
    """A unit the sensor's kind does not report in."""


class ImpossibleValue(BadReading, code="smartcis.ingest.bad_value"):
    """Not a finite number, or outside what the kind can report."""


class BadTime(BadReading, code="smartcis.ingest.bad_time"):
    """A time without zone, in the future, or too long ago."""
