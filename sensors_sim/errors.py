"""What the simulator refuses."""

from __future__ import annotations

from aspen.errors import AspenError


class UnknownWaveform(AspenError, code="sensors_sim.unknown_waveform"):
    """A waveform that nobody wrote."""


class BadParameters(AspenError, code="sensors_sim.bad_parameters"):
    """Waveform parameters that are missing, misspelt or out of the device's range."""


class BadWorld(AspenError, code="sensors_sim.bad_world"):
    """A description that names a machine, node or sensor it does not have."""


class BadMessage(AspenError, code="sensors_sim.bad_message"):
    """Bytes that are no message of motes, or a value no message can carry."""


class UnsupportedFragment(AspenError, code="sensors_sim.unsupported_fragment"):
    """A plan that motes cannot run; its remainder belongs to the engine."""


class UnknownQuery(AspenError, code="sensors_sim.unknown_query"):
    """A query handle that is not deployed (any more)."""
