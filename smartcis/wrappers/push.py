"""Push: a gateway that hands its rows over HTTP with a token; nobody listens, the web server does.

Law:        what a call handed over is in the log when it is answered; the gateway's health is
            that of its calls, whichever web process took them.
Source:     own.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from smartcis.wrappers.base import BaseWrapper
from smartcis.wrappers.protocol import Append, Capability, Settings

ROWS = ("host_load", "host_process", "pdu_power")
READINGS = ("cpu_reading", "light_reading", "rfid_reading", "seat_reading", "temperature_reading")


class PushGateway(BaseWrapper):
    """One gateway, known by its account.

    Args:
        settings: `config.account`.
        clock: wall time, seconds since the epoch.
    """

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.time) -> None:
        super().__init__(settings, clock, (*READINGS, *ROWS), Capability.PUSH)
        self.account = str(settings.config["account"])

    async def run(self, append: Append) -> None:
        """Waits: whoever takes a call notes it in the pulse."""
        del append
        await asyncio.Event().wait()
