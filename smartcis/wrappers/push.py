"""Push: a gateway that hands its rows over HTTP with a token; nobody listens, the web server does.

Law:        what a call handed over is in the log when it is answered; the gateway's health is
            that of its calls, whichever web process took them.
"""

from __future__ import annotations

from aspen.motes.kinds import DEVICE_KINDS, SHARED_STREAM
from smartcis.wrappers.base import Wrapper
from smartcis.wrappers.protocol import Capability

ROWS = ("host_load", "host_process", "pdu_power")
READINGS = (*sorted(kind.stream for kind in DEVICE_KINDS), SHARED_STREAM)


class PushGateway(Wrapper):
    """One gateway, known by its token."""

    key = "push"
    label = "Gateway that pushes (HTTP with token)"
    feeds = (*READINGS, *ROWS)
    capabilities = (Capability.PUSH,)
