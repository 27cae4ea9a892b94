"""Push: a gateway that hands its rows over HTTP with a token; nobody listens, the web server does.

Law:        what a call handed over is in the log when it is answered; the gateway's health is
            that of its calls, whichever web process took them.
Source:     own.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from smartcis.catalog import CATALOG
from smartcis.wrappers.protocol import Append, Capability, Declaration, Settings
from smartcis.wrappers.pulse import Health, Pulse

ROWS = ("host_load", "host_process", "pdu_power")
READINGS = ("cpu_reading", "light_reading", "rfid_reading", "seat_reading", "temperature_reading")


class PushGateway:
    """One gateway, known by its account.

    Args:
        settings: `config.account`.
        clock: wall time, seconds since the epoch.
    """

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.time) -> None:
        self._settings = settings
        self.account = str(settings.config["account"])
        self._clock = clock
        self.pulse = Pulse(settings.source, settings.period_s, settings.added_s or clock())

    @property
    def declaration(self) -> Declaration:
        """Returns what it may hand over."""
        return Declaration(
            self._settings.source,
            tuple(CATALOG.get(name) for name in (*READINGS, *ROWS)),
            self._settings.period_s,
            frozenset({Capability.PUSH}),
        )

    def health(self, now_s: float) -> Health:
        """Returns the state by the newest call."""
        return self.pulse.health(now_s)

    async def run(self, append: Append) -> None:
        """Waits: whoever takes a call notes it in the pulse."""
        del append
        await asyncio.Event().wait()
