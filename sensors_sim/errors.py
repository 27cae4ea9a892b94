"""What the simulator refuses."""

from __future__ import annotations

from aspen.errors import AspenError


class UnknownWaveform(AspenError):
    """A waveform that nobody wrote."""

    code = "sensors_sim.unknown_waveform"


class BadParameters(AspenError):
    """Waveform parameters that are missing, misspelt or out of the device's range."""

    code = "sensors_sim.bad_parameters"


class BadWorld(AspenError):
    """A description that names a machine, node or sensor it does not have."""

    code = "sensors_sim.bad_world"


class BadMessage(AspenError):
    """Bytes that are no message of motes, or a value no message can carry."""

    code = "sensors_sim.bad_message"


class UnsupportedFragment(AspenError):
    """A plan that motes cannot run; its remainder belongs to the engine."""

    code = "sensors_sim.unsupported_fragment"


class UnknownQuery(AspenError):
    """A query handle that is not deployed (any more)."""

    code = "sensors_sim.unknown_query"
